// SPDX-License-Identifier: MIT
// Our requests: into the ring in posting order, and completed in that order.
#include "transfer/outbound.h"

#include "engine/connect/ep.h"
#include "engine/transfer/flags.h"
#include "transfer/parts.h"

#include <algorithm>

namespace rsmdat {
namespace {

// Messages in one go: whoever fills or empties a ring as fast as we empty or fill it must not keep
// the lock from everybody else.
constexpr int TURNS = 1024;

// Those of which the connection does not survive one.
bool is_fault(DAT_DTO_COMPLETION_STATUS status) noexcept {
    return status != DAT_DTO_SUCCESS && status != DAT_RMR_OPERATION_FAILED;
}

} // namespace

void Outbound::connected() noexcept {
    sent_ = executed_ = rdma_sent_ = 0;
    failed_ = faulted_ = false;
}

void Outbound::go_on() noexcept {
    turns_ = TURNS;
    while (!failed_ && queue_.has_unstarted()) {
        Request &request = queue_.next();
        if (!start(request)) {
            request.waited = true;
            break;
        }
        queue_.started();
    }
    retire();
}

// True if those behind it may start.
bool Outbound::start(Request &request) noexcept {
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

bool Outbound::held_back(const Request &request) const noexcept {
    return has_flag(request.flags, DAT_COMPLETION_BARRIER_FENCE_FLAG) && !request.wired &&
           !reads_.empty();
}

// Does the peer still have to say whether it carries out an RDMA request? What is carried out
// without the peer waits for that: behind a refusal everything is flushed.
bool Outbound::rdma_unanswered() const noexcept {
    return executed_ < rdma_sent_ || !reads_.empty();
}

// A request's pieces where they can be touched: in the consumer's own call by their addresses,
// later through views (contexts.h). None if one is not good any more; requests with no pieces don't
// come here.
std::span<const DAT_LMR_TRIPLET> Outbound::reachable(const Request &request,
                                                     Pieces &room) noexcept {
    const auto pieces = queue_.pieces(request);
    if (!request.waited)
        return pieces;
    const unsigned privilege = request.kind == Request::Kind::READ ? DAT_MEM_PRIV_LOCAL_WRITE_FLAG
                                                                   : DAT_MEM_PRIV_LOCAL_READ_FLAG;
    if (!ep_.ia().contexts->view(ep_.pz, pieces, privilege, room))
        return {};
    return std::span(room).first(pieces.size());
}

bool Outbound::still_intact(const Request &request) noexcept {
    return !request.waited || ep_.ia().contexts->intact(queue_.pieces(request));
}

void Outbound::start_bind(Request &request) noexcept {
    Rmr::Prepared &prepared = binds_.front();
    request.done = true;
    request.status = *prepared.rmr ? DAT_DTO_SUCCESS : DAT_RMR_OPERATION_FAILED; // freed since
    Rmr::apply(prepared);
    binds_.pop_front();
}

bool Outbound::start_rdma(Request &request) noexcept {
    const bool write = request.kind == Request::Kind::WRITE;
    if (request.length == 0) {
        succeed(request);
        return true;
    }
    if (!write && read_credits() <= 0) {
        fail(request, ep_.attributes.max_rdma_read_out <= 0 ? DAT_DTO_ERR_LOCAL_EP
                                                            : DAT_DTO_ERR_REMOTE_RESPONDER);
        return true;
    }
    const bool alone = line_.local() && !request.wired;
    if (alone && rdma_unanswered())
        return false;
    const Way way = alone ? direct(request) : Way::RING;
    if (way == Way::RING)
        return write ? stream(request, MessageKind::WRITE) : start_read(request);
    request.done = way == Way::DONE;
    return request.done;
}

DAT_COUNT Outbound::read_credits() const noexcept {
    return std::min(ep_.attributes.max_rdma_read_out,
                    static_cast<DAT_COUNT>(ep_.link->max_rdma_read_out));
}

bool Outbound::start_read(Request &request) noexcept {
    if (reads_.size() >= static_cast<std::size_t>(read_credits()))
        return false;
    MessageHeader header{};
    header.kind = MessageKind::READ;
    header.flags = message_flags::FIRST | message_flags::LAST;
    header.context = request.context;
    header.address = request.address;
    header.total = request.length;
    if (!line_.send(Line::Ring::REQUEST, header))
        return false;
    request.wired = true;
    request.number = sent_++;
    reads_.push(&request);
    return true;
}

// Piece by piece; a message of no bytes is one piece, too.
bool Outbound::stream(Request &request, MessageKind kind) noexcept {
    const std::uint64_t most = line_.limit(Line::Ring::REQUEST);
    Pieces room; // NOLINT(*-member-init): as much of it is read as was written
    const auto pieces = reachable(request, room);
    if (pieces.empty() && request.length > 0)
        return fail(request, DAT_DTO_ERR_LOCAL_PROTECTION), true;
    do {
        const std::uint64_t left = request.length - request.moved;
        MessageHeader header{};
        header.kind = kind;
        header.flags = static_cast<std::uint8_t>(
            (request.moved == 0 ? message_flags::FIRST : 0) |
            (left <= most ? message_flags::LAST : 0) |
            (has_flag(request.flags, DAT_COMPLETION_SOLICITED_WAIT_FLAG) ? message_flags::SOLICITED
                                                                         : 0));
        header.length = static_cast<std::uint32_t>(std::min(left, most));
        header.context = request.context;
        header.address = request.address;
        header.total = request.length;
        if (turns_ == 0 || !send_piece(request, pieces, header))
            return false;
        --turns_;
        request.wired = true;
        request.number = sent_;
        request.moved += header.length;
    } while (request.moved < request.length);
    if (!still_intact(request))
        return fail(request, DAT_DTO_ERR_LOCAL_PROTECTION), true;
    ++sent_;
    if (kind == MessageKind::WRITE)
        rdma_sent_ = sent_;
    return true;
}

bool Outbound::send_piece(const Request &request, std::span<const DAT_LMR_TRIPLET> pieces,
                          const MessageHeader &header) noexcept {
    if (pieces.size() == 1) [[likely]] {
        const std::array part{part_of(pieces[0], request.moved, header.length)};
        return line_.send(Line::Ring::REQUEST, header, part);
    }
    Parts parts;
    return line_.send(Line::Ring::REQUEST, header, parts.cut(pieces, request.moved, header.length));
}

void Outbound::acknowledge() noexcept {
    if (executed_ == sent_)
        return;
    const auto executed = line_.executed(sent_);
    if (executed)
        executed_ = *executed;
    else
        bad_response();
}

void Outbound::fail(Request &request, DAT_DTO_COMPLETION_STATUS status) noexcept {
    request.done = true;
    request.status = status;
    failed_ = true;
}

// The one that has waited longest for an answer gets the blame.
void Outbound::bad_response() noexcept {
    if (failed_)
        return;
    retire();
    if (queue_.has_started())
        fail(queue_.head(), DAT_DTO_ERR_BAD_RESPONSE);
    failed_ = true;
}

void Outbound::retire() noexcept {
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

// An RDMA request that was carried out behind one that was not has happened; its success does not
// count.
void Outbound::flush() noexcept {
    retire();
    while (!queue_.empty()) {
        Request &request = queue_.head();
        const bool bind = request.kind == Request::Kind::BIND;
        if (!request.done || (faulted_ && !bind && !is_fault(request.status)))
            request.status = DAT_DTO_ERR_FLUSHED;
        if (!request.done && bind)
            drop_bind();
        faulted_ |= is_fault(request.status);
        complete(request);
    }
    reads_.clear();
    remotes_.clear();
    asked_.reset();
    failed_ = faulted_ = false;
}

void Outbound::drop_bind() noexcept {
    Rmr::drop(binds_.front());
    binds_.pop_front();
}

} // namespace rsmdat
