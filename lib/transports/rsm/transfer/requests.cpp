// SPDX-License-Identifier: MIT
// Our requests: into the ring in posting order, and completed in that order.
#include "transfer/requests.h"

#include "core/transport.h"
#include "engine/connect/ep.h"
#include "memory/copy.h"
#include "transfer/sg_slice.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace rsmengine {
namespace {

// The statuses that break the connection.
bool is_fault(CompletionStatus status) noexcept {
    return status != CompletionStatus::OK && status != CompletionStatus::BIND_FAILED;
}

} // namespace

void RsmRequests::connected() noexcept {
    sent_ = executed_ = rdma_sent_ = 0;
    failed_ = faulted_ = false;
}

void RsmRequests::go_on() noexcept {
    turns_ = TURNS;
    while (!failed_ && queue_.has_unstarted()) {
        if (!start(queue_.next()))
            break;
        queue_.started();
    }
    retire();
}

// True if later requests may start.
bool RsmRequests::start(Request &request) noexcept {
    if (request.done)
        return true;
    if (held_back(request))
        return false;
    switch (request.kind) {
    case Request::Kind::SEND:
        return stream(request, MessageKind::SEND);
    case Request::Kind::BIND:
        if (rdma_unanswered())
            return false;
        start_bind(request);
        return true;
    default:
        return start_rdma(request);
    }
}

bool RsmRequests::held_back(const Request &request) const noexcept {
    return has_flag(request.flags, CompletionFlags::FENCE) && !request.wired && !reads_.empty();
}

// True if the peer has yet to report whether it carries out an RDMA request. Requests that need no
// peer wait for that, because a refusal flushes all later requests.
bool RsmRequests::rdma_unanswered() const noexcept {
    return executed_ < rdma_sent_ || !reads_.empty();
}

// The pieces of a request, translated to views (contexts.h). Empty if a piece is invalid, or its
// memory has gone; requests without pieces are not passed here.
std::span<const Segment> RsmRequests::reachable(const Request &request, Pieces &room) noexcept {
    const auto pieces = queue_.pieces(request);
    const unsigned privilege =
        request.kind == Request::Kind::READ ? rights::LOCAL_WRITE : rights::LOCAL_READ;
    if (!contexts_of(ep_.ia()).view(ep_.pz, pieces, privilege, room) || !still_intact(request))
        return {};
    return std::span(room).first(pieces.size());
}

bool RsmRequests::still_intact(const Request &request) noexcept {
    return contexts_of(ep_.ia()).intact(queue_.pieces(request));
}

void RsmRequests::start_bind(Request &request) noexcept {
    RsmRmr::Prepared &prepared = binds_.front();
    request.done = true;
    request.status =
        *prepared.rmr ? CompletionStatus::OK : CompletionStatus::BIND_FAILED; // freed since
    RsmRmr::apply(prepared);
    binds_.pop_front();
}

bool RsmRequests::start_rdma(Request &request) noexcept {
    const bool write = request.kind == Request::Kind::WRITE;
    if (request.length == 0) {
        succeed(request);
        return true;
    }
    if (!write && read_credits() <= 0) {
        fail(request, ep_.attributes.max_rdma_read_out <= 0 ? CompletionStatus::LOCAL_ENDPOINT
                                                            : CompletionStatus::REMOTE_RESPONDER);
        return true;
    }
    const bool alone = channel_.local() && !request.wired;
    if (alone && rdma_unanswered())
        return false;
    const Way way = alone ? direct(request) : Way::RING;
    if (way == Way::RING)
        return write ? stream(request, MessageKind::WRITE) : start_read(request);
    request.done = way == Way::DONE;
    return request.done;
}

Count RsmRequests::read_credits() const noexcept {
    return std::min(ep_.attributes.max_rdma_read_out,
                    static_cast<Count>(ep_.link->max_rdma_read_out));
}

bool RsmRequests::start_read(Request &request) noexcept {
    if (reads_.size() >= static_cast<std::size_t>(read_credits()))
        return false;
    MessageHeader header{};
    header.kind = MessageKind::READ;
    header.flags = message_flags::FIRST | message_flags::LAST;
    header.context = request.context;
    header.address = request.address;
    header.total = request.length;
    if (!channel_.send(NotifyingChannel::Ring::REQUEST, header))
        return false;
    request.wired = true;
    request.number = sent_++;
    reads_.push(&request);
    return true;
}

// Piece by piece; a message of no bytes is one piece, too.
bool RsmRequests::stream(Request &request, MessageKind kind) noexcept {
    const std::uint64_t most = channel_.limit(NotifyingChannel::Ring::REQUEST);
    Pieces room; // NOLINT(*-member-init): as much of it is read as was written
    const auto pieces = reachable(request, room);
    if (pieces.empty() && request.length > 0)
        return fail(request, CompletionStatus::LOCAL_PROTECTION), true;
    do {
        const std::uint64_t left = request.length - request.moved;
        MessageHeader header{};
        header.kind = kind;
        header.flags = static_cast<std::uint8_t>(
            (request.moved == 0 ? message_flags::FIRST : 0) |
            (left <= most ? message_flags::LAST : 0) |
            (has_flag(request.flags, CompletionFlags::SOLICITED) ? message_flags::SOLICITED : 0));
        header.length = static_cast<std::uint32_t>(std::min(left, most));
        header.context = request.context;
        header.address = request.address;
        header.total = request.length;
        if (turns_ == 0)
            return false;
        if (!send_piece(request, pieces, header)) {
            if (still_intact(request))
                return false;
            return fail(request, CompletionStatus::LOCAL_PROTECTION), true;
        }
        --turns_;
        request.wired = true;
        request.number = sent_;
        request.moved += header.length;
    } while (request.moved < request.length);
    ++sent_;
    if (kind == MessageKind::WRITE)
        rdma_sent_ = sent_;
    return true;
}

// The peer sees a message only if the memory was still there when all of it had been copied.
bool RsmRequests::send_piece(const Request &request, std::span<const Segment> pieces,
                             const MessageHeader &header) noexcept {
    const auto intact = [this, &request] { return still_intact(request); };
    if (pieces.size() == 1) [[likely]] {
        const std::array part{piece_of(pieces[0], request.moved, header.length)};
        return channel_.send(NotifyingChannel::Ring::REQUEST, header, part, intact);
    }
    SgSlice slice;
    return channel_.send(NotifyingChannel::Ring::REQUEST, header,
                         slice.cut(pieces, request.moved, header.length), intact);
}

void RsmRequests::acknowledge() noexcept {
    if (executed_ == sent_)
        return;
    const auto executed = channel_.executed(sent_);
    if (executed)
        executed_ = *executed;
    else
        bad_response();
}

void RsmRequests::fail(Request &request, CompletionStatus status) noexcept {
    request.done = true;
    request.status = status;
    failed_ = true;
}

// Fails the request that has waited longest for an answer.
void RsmRequests::bad_response() noexcept {
    if (failed_)
        return;
    retire();
    if (queue_.has_started())
        fail(queue_.head(), CompletionStatus::BAD_RESPONSE);
    failed_ = true;
}

void RsmRequests::retire() noexcept {
    while (queue_.has_started() && !faulted_) {
        Request &request = queue_.head();
        const bool acknowledged =
            request.wired && request.kind != Request::Kind::READ && request.number < executed_;
        if (!request.done && !acknowledged)
            return;
        faulted_ = is_fault(request.status);
        complete(request);
    }
}

// An RDMA request may have been carried out behind one that failed; it completes as flushed all the
// same.
void RsmRequests::flush() noexcept {
    retire();
    while (!queue_.empty()) {
        Request &request = queue_.head();
        const bool bind = request.kind == Request::Kind::BIND;
        if (!request.done || (faulted_ && !bind && !is_fault(request.status)))
            request.status = CompletionStatus::FLUSHED;
        if (!request.done && bind)
            drop_bind();
        faulted_ |= is_fault(request.status);
        complete(request);
    }
    reads_.clear();
    remote_regions_.clear(
        [this](std::unique_ptr<RemoteRegion> region) { drop(std::move(region)); });
    asked_.reset();
    failed_ = faulted_ = false;
}

void RsmRequests::drop_bind() noexcept {
    RsmRmr::drop(binds_.front());
    binds_.pop_front();
}

// To unmap memory of the peer can take long: a helper does it, without Ia::lock.
void RsmRequests::drop(std::unique_ptr<RemoteRegion> region) noexcept {
    if (region)
        ep_.ia().engine->end_aside(std::move(region));
}

// Only the target may report why its memory cannot be reached: send the request through the ring,
// and take the status from the answer.
RsmRequests::Way RsmRequests::direct(Request &request) noexcept {
    RemoteRegionCache::Entry *entry = remote_regions_.find(request.context);
    if (!entry)
        return ask(request.context);
    if (!entry->region)
        return Way::RING;
    Pieces room; // NOLINT(*-member-init): as much of it is read as was written
    const auto pieces = reachable(request, room);
    if (pieces.empty()) {
        fail(request, CompletionStatus::LOCAL_PROTECTION);
        return Way::DONE;
    }
    auto outcome = request.kind == Request::Kind::WRITE
                       ? entry->region->write(request.address, pieces, request.length)
                       : entry->region->read(request.address, pieces, request.length);
    if (outcome == RemoteRegion::Outcome::DONE && !still_intact(request))
        outcome = RemoteRegion::Outcome::FAULT;
    if (outcome == RemoteRegion::Outcome::DONE)
        return Way::DONE;
    if (outcome == RemoteRegion::Outcome::DENIED)
        return Way::RING;
    if (outcome == RemoteRegion::Outcome::FAULT) {
        fail(request, CompletionStatus::LOCAL_PROTECTION);
        return Way::DONE;
    }
    drop(remote_regions_.forget(*entry));
    if (std::exchange(request.asked_again, true))
        return Way::RING;
    return ask(request.context);
}

// Only the first request that has not started asks, so there is never more than one question.
RsmRequests::Way RsmRequests::ask(RemoteKey context) noexcept {
    if (asked_)
        return Way::WAIT;
    MessageHeader header{};
    header.kind = MessageKind::ASK;
    header.context = context;
    if (channel_.send(NotifyingChannel::Ring::RESPONSE, header))
        asked_ = context;
    return Way::WAIT;
}

bool RsmRequests::take(const Message &message) noexcept {
    switch (message.header.kind) {
    case MessageKind::READ_DATA:
        return take_data(message);
    case MessageKind::GRANT:
        return take_grant(message);
    case MessageKind::FAULT:
        return take_fault(message.header);
    case MessageKind::DONE:
        return take_done(message.header);
    default:
        return false;
    }
}

bool RsmRequests::take_data(const Message &message) noexcept {
    const std::uint64_t length = message.payload.size();
    if (reads_.empty() || length == 0)
        return false;
    Request &request = *reads_.front();
    if (length > request.length - request.moved)
        return false;
    if (!contexts_of(ep_.ia()).fill(ep_.pz, queue_.pieces(request), request.moved,
                                    message.payload)) {
        fail(request, CompletionStatus::LOCAL_PROTECTION);
        return true;
    }
    request.moved += length;
    if (request.moved == request.length) {
        reads_.pop();
        succeed(request);
    }
    return true;
}

bool RsmRequests::take_grant(const Message &message) noexcept {
    if (asked_ != message.header.context)
        return false;
    asked_.reset();
    Grant grant{};
    std::unique_ptr<RemoteRegion> region;
    if (message.header.status == 0) {
        if (message.payload.size() != sizeof(grant))
            return false;
        std::memcpy(&grant, message.payload.data(), sizeof(grant));
        try {
            region = RemoteRegion::open(*transport_of(ep_.ia()).device, grant);
        } catch (const std::bad_alloc &) {
            region.reset(); // use the ring instead
        }
    }
    drop(remote_regions_.insert(message.header.context, std::move(region)));
    return true;
}

// The peer has carried out all requests ahead of the fault; its count of these may be out of reach.
bool RsmRequests::take_fault(const MessageHeader &header) noexcept {
    acknowledge();
    retire();
    Request *request = queue_.on_wire(header.total);
    if (!request || request->done)
        return false;
    executed_ = std::max(executed_, header.total);
    retire();
    const auto status = static_cast<CompletionStatus>(header.status);
    const bool known =
        status == CompletionStatus::REMOTE_ACCESS || status == CompletionStatus::REMOTE_RESPONDER;
    fail(*request, known ? status : CompletionStatus::BAD_RESPONSE);
    return true;
}

// The peer ends the connection. The message carries its count of executed requests, because its
// segment ends, too.
bool RsmRequests::take_done(const MessageHeader &header) noexcept {
    if (header.total < executed_ || header.total > sent_)
        return false;
    executed_ = header.total;
    return true;
}

namespace {

// The address of the peer's bytes in the window, if all of them are in it.
std::byte *place_of(const RemoteRegion::Window &window, std::uint64_t address,
                    std::uint64_t length) noexcept {
    const std::uint64_t offset = address - window.address;
    return offset <= window.length && length <= window.length - offset ? window.start + offset
                                                                       : nullptr;
}

} // namespace

// A write whose event has no room takes the slow path, which breaks the connection. A suppressed
// write has no event.
bool RsmRequests::write_at_once(const Post &post, View<RemoteSegment> remote) noexcept {
    const bool silent = post.flags == CompletionFlags::SUPPRESS;
    if (post.segments != 1 || (!silent && post.flags != CompletionFlags::DEFAULT) || !post.iov ||
        !remote || ep_.state != EpState::CONNECTED || !queue_.empty() || full() || failed_ ||
        (!silent && !ep_.request_evd->has_room()))
        return false;
    const Segment piece = *post.iov;
    const std::uint64_t length = piece.length;
    const RemoteSegment there = *remote;
    const RemoteRegionCache::Entry *target = remote_regions_.last(there.key);
    if (!target || length == 0 || ep_.attributes.max_rdma_write_iov < 1 || length > there.length ||
        length > ep_.attributes.max_rdma_size)
        return false;
    const RsmRegion *region = contexts_of(ep_.ia()).usable(ep_.pz, piece, rights::LOCAL_READ);
    std::byte *to = place_of(target->window, there.address, length);
    if (!region || !to || !region->memory().there())
        return false;
    copy_last_bytes_last(to, region->memory().at(piece.address), length);
    // If the memory has gone, repeat the write by the slow path, which finds its status.
    if (!target->window.import->alive() || !region->memory().there())
        return false;
    if (silent)
        return true;
    ++in_use_;
    ep_.request_evd->deliver(
        Completion{ep_.handle(), post.cookie, CompletionStatus::OK, length, false, &in_use_});
    return true;
}

bool RsmRequests::send_at_once(const Post &post) noexcept {
    const bool plain =
        post.flags == CompletionFlags::DEFAULT || post.flags == CompletionFlags::SUPPRESS;
    if (post.segments != 1 || !plain || !post.iov || ep_.state != EpState::CONNECTED ||
        queue_.has_unstarted() || full() || failed_ || !channel_)
        return false;
    const Segment piece = *post.iov;
    const std::uint64_t length = piece.length;
    if (length == 0 || ep_.attributes.max_request_iov < 1 ||
        length > ep_.attributes.max_message_size ||
        length > channel_.limit(NotifyingChannel::Ring::REQUEST))
        return false;
    const RsmRegion *region = contexts_of(ep_.ia()).usable(ep_.pz, piece, rights::LOCAL_READ);
    if (!region)
        return false;
    const RsmPinned &pinned = region->memory();
    MessageHeader header{};
    header.kind = MessageKind::SEND;
    header.flags = message_flags::FIRST | message_flags::LAST;
    header.total = length;
    const std::array part{SgPiece(pinned.at(piece.address), length)};
    if (!channel_.send(NotifyingChannel::Ring::REQUEST, header, part,
                       [&pinned] { return pinned.was_read(); }))
        return false;
    queue_.vacant() = {.kind = Request::Kind::SEND,
                       .done = false,
                       .wired = true,
                       .asked_again = false,
                       .status = CompletionStatus::OK,
                       .flags = post.flags,
                       .pieces = 0,
                       .cookie = post.cookie,
                       .length = length,
                       .moved = length,
                       .number = sent_++,
                       .address = 0,
                       .context = 0,
                       .rmr = nullptr};
    queue_.push();
    queue_.started();
    ++in_use_;
    return true;
}

void RsmRequests::resize() {
    reads_.reserve(static_cast<std::size_t>(std::max(ep_.attributes.max_rdma_read_out, 1)));
    Requests::resize();
}

Status RsmRequests::bind(RsmRmr &rmr, const Segment &triplet, unsigned privileges, const Post &post,
                         RemoteKey *context) {
    Status result = may_post(post, 0);
    if (result == Status::OK)
        result = check_flags(post, REQUEST_FLAGS, Status::BAD_RDMA_FLAGS);
    if (result != Status::OK)
        return result;
    std::list<RsmRmr::Prepared> bind(1);
    RsmRmr::Prepared &prepared = bind.front();
    result = rmr.prepare(triplet, privileges, ep_.pz, prepared);
    if (result != Status::OK)
        return result;
    if (full()) {
        RsmRmr::drop(prepared);
        return Status::NO_MEMORY;
    }
    binds_.splice(binds_.end(), bind);
    if (context && prepared.region)
        *context = prepared.region->context;
    Request request{};
    request.kind = Request::Kind::BIND;
    request.flags = post.flags;
    request.cookie = post.cookie;
    request.rmr = rmr.handle();
    return queue(request);
}

} // namespace rsmengine
