// SPDX-License-Identifier: MIT
// Our requests: into the ring in posting order, and completed in that order.
#include "transfer/outbound.h"

#include "connect/ep.h"
#include "transfer/flags.h"
#include "transfer/parts.h"

#include <algorithm>

namespace rsmdat {
namespace {

// Messages in one go: whoever fills or empties a ring as fast as we empty or fill it must not keep
// the lock from everybody else.
constexpr int TURNS = 1024;

} // namespace

void Outbound::connected() noexcept {
    sent_ = executed_ = 0;
    failed_ = false;
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
    if (request.waited && !still_good(request)) {
        fail(request, DAT_DTO_ERR_LOCAL_PROTECTION);
        return true;
    }
    switch (request.kind) {
    case Request::Kind::SEND:
        return stream(request, MessageKind::SEND);
    case Request::Kind::BIND:
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

bool Outbound::still_good(const Request &request) noexcept {
    const unsigned privilege = request.kind == Request::Kind::READ ? DAT_MEM_PRIV_LOCAL_WRITE_FLAG
                                                                   : DAT_MEM_PRIV_LOCAL_READ_FLAG;
    return std::ranges::all_of(queue_.pieces(request), [&](const DAT_LMR_TRIPLET &piece) {
        return ep_.ia().contexts->still_good(ep_.pz, piece, privilege);
    });
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
    const Way way = line_.local() && !request.wired ? direct(request) : Way::RING;
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
        if (turns_ == 0 || !send_piece(request, header))
            return false;
        --turns_;
        request.wired = true;
        request.number = sent_;
        request.moved += header.length;
    } while (request.moved < request.length);
    ++sent_;
    return true;
}

bool Outbound::send_piece(const Request &request, const MessageHeader &header) noexcept {
    const auto pieces = queue_.pieces(request);
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
    while (queue_.has_started()) {
        Request &request = queue_.head();
        const bool acknowledged =
            request.wired && request.kind != Request::Kind::READ && request.number < executed_;
        if (!request.done && !acknowledged)
            return;
        complete(request);
    }
}

void Outbound::flush() noexcept {
    retire();
    while (!queue_.empty()) {
        Request &request = queue_.head();
        if (!request.done) {
            request.status = DAT_DTO_ERR_FLUSHED;
            if (request.kind == Request::Kind::BIND)
                drop_bind();
        }
        complete(request);
    }
    reads_.clear();
    remotes_.clear();
    asked_.reset();
    failed_ = false;
}

void Outbound::drop_bind() noexcept {
    Rmr::drop(binds_.front());
    binds_.pop_front();
}

} // namespace rsmdat
