// SPDX-License-Identifier: MIT
// Our requests: into the queue pair in posting order, and completed in that order.
#include "transfer/requests.h"

#include "core/transport.h"
#include "device/uncancelled.h"
#include "engine/connect/ep.h"
#include "wire/rdma_device.h"

#include <algorithm>
#include <iterator>

namespace rsmengine {
namespace {

unsigned send_flags_of(const Request &request, std::uint32_t inline_limit, bool fences) noexcept {
    unsigned flags = IBV_SEND_SIGNALED;
    if (fences && has_flag(request.flags, CompletionFlags::FENCE))
        flags |= IBV_SEND_FENCE;
    if (has_flag(request.flags, CompletionFlags::SOLICITED))
        flags |= IBV_SEND_SOLICITED;
    const bool outgoing =
        request.kind == Request::Kind::SEND || request.kind == Request::Kind::WRITE;
    if (outgoing && request.length > 0 && request.length <= inline_limit)
        flags |= IBV_SEND_INLINE;
    return flags;
}

// A solicited send carries immediate data, by which the receiver recognises it.
ibv_wr_opcode opcode_of(const Request &request, bool has_immediates) noexcept {
    switch (request.kind) {
    case Request::Kind::WRITE:
        return IBV_WR_RDMA_WRITE;
    case Request::Kind::READ:
        return IBV_WR_RDMA_READ;
    default:
        return has_immediates && has_flag(request.flags, CompletionFlags::SOLICITED)
                   ? IBV_WR_SEND_WITH_IMM
                   : IBV_WR_SEND;
    }
}

} // namespace

Status VerbsRequests::bind(VerbsRmr &rmr, const Segment &triplet, unsigned privileges,
                           const Post &post, std::shared_ptr<ibv_mw> &window) {
    Status result = may_post(post, 0);
    if (result == Status::OK)
        result = check_flags(post, REQUEST_FLAGS, Status::BAD_RDMA_FLAGS);
    if (result != Status::OK)
        return result;
    std::list<VerbsRmr::Prepared> bind(1);
    VerbsRmr::Prepared &prepared = bind.front();
    result = rmr.prepare(triplet, privileges, ep_.pz, prepared);
    if (result != Status::OK)
        return result;
    if (full()) {
        VerbsRmr::cancel(prepared);
        return Status::NO_MEMORY;
    }
    if (prepared.lmr != nullptr)
        window = prepared.window;
    binds_.splice(binds_.end(), bind);
    Request request{};
    request.kind = Request::Kind::BIND;
    request.flags = post.flags;
    request.cookie = post.cookie;
    request.rmr = rmr.handle();
    return queue(request);
}

// A fence that this library has to keep, because the device does not.
bool VerbsRequests::has_fence(const Request &request) const noexcept {
    return has_flag(request.flags, CompletionFlags::FENCE) &&
           !transport_of(ep_.ia()).device->has_fences();
}

bool VerbsRequests::may_start(std::size_t most) noexcept {
    return !stopped_ && !failed_ && queue_.has_unstarted() && queue_.outstanding() < most &&
           (reads_ == 0 || !has_fence(queue_.next()));
}

// A request that needs no device completes at once, and makes room.
void VerbsRequests::start(ibv_qp &qp, std::uint32_t inline_limit, std::size_t most) noexcept {
    while (may_start(most)) {
        Request &request = queue_.next();
        const bool allowed = request.kind != Request::Kind::READ || has_read_credits();
        if (!allowed || !start(request, qp, inline_limit))
            fail(request, CompletionStatus::LOCAL_ENDPOINT);
        queue_.started();
        if (request.kind == Request::Kind::READ)
            ++reads_;
        if (request.done)
            retire();
    }
}

// A queue pair without read credits would never complete a read.
bool VerbsRequests::has_read_credits() const noexcept {
    return ep_.attributes.max_rdma_read_out > 0 && ep_.link->max_rdma_read_out > 0;
}

bool VerbsRequests::start(Request &request, ibv_qp &qp, std::uint32_t inline_limit) noexcept {
    if (request.kind != Request::Kind::BIND)
        return start_message(request, qp, inline_limit);
    const auto bind = std::next(binds_.begin(), static_cast<std::ptrdiff_t>(binds_started_++));
    request.done = VerbsRmr::is_void(*bind);
    const bool fences = transport_of(ep_.ia()).device->has_fences();
    return request.done || VerbsRmr::post(*bind, qp, number_of(Work::REQUEST),
                                          send_flags_of(request, 0, fences)) == 0;
}

bool VerbsRequests::start_message(const Request &request, ibv_qp &qp,
                                  std::uint32_t inline_limit) noexcept {
    Gathered pieces(queue_.pieces(request), request.length);
    ibv_send_wr work{};
    work.wr_id = number_of(Work::REQUEST);
    work.sg_list = pieces.list();
    work.num_sge = pieces.count();
    work.opcode = opcode_of(request, transport_of(ep_.ia()).device->has_immediates());
    work.send_flags =
        send_flags_of(request, inline_limit, transport_of(ep_.ia()).device->has_fences());
    work.wr.rdma.remote_addr = request.address;
    work.wr.rdma.rkey = request.context;
    ibv_send_wr *bad = nullptr;
    const rsmdev::Uncancelled uncancelled; // rxe: a system call
    return ::ibv_post_send(&qp, &work, &bad) == 0;
}

void VerbsRequests::fail(Request &request, CompletionStatus status) noexcept {
    request.done = true;
    request.status = status;
    stopped_ = true;
}

// The first request that the device flushes: all that are left complete in flush().
void VerbsRequests::completed(ibv_wc_status status) noexcept {
    if (!queue_.has_started() || failed_)
        return;
    if (status == IBV_WC_WR_FLUSH_ERR) {
        failed_ = true;
        return;
    }
    Request &request = queue_.head();
    request.done = true;
    request.status = status_of(status);
    retire();
}

void VerbsRequests::retire() noexcept {
    while (!failed_ && queue_.has_started() && queue_.head().done) {
        Request &request = queue_.head();
        if (request.kind == Request::Kind::BIND)
            settle_bind(request);
        if (request.kind == Request::Kind::READ)
            --reads_;
        failed_ = request.status != CompletionStatus::OK;
        complete(request);
    }
}

// If the RMR was freed meanwhile, the bind fails and the connection lasts.
void VerbsRequests::settle_bind(Request &request) noexcept {
    VerbsRmr::Prepared &prepared = binds_.front();
    const bool good = request.done && request.status == CompletionStatus::OK;
    if (good && *prepared.rmr == nullptr)
        request.status = CompletionStatus::BIND_FAILED;
    const bool handed_over = binds_started_ > 0;
    if (good)
        VerbsRmr::apply(prepared);
    else if (handed_over)
        VerbsRmr::drop(prepared);
    else
        VerbsRmr::cancel(prepared);
    binds_.pop_front();
    binds_started_ -= handed_over ? 1 : 0;
}

void VerbsRequests::flush() noexcept {
    retire();
    while (!queue_.empty()) {
        Request &request = queue_.head();
        if (!request.done)
            request.status = CompletionStatus::FLUSHED;
        if (request.kind == Request::Kind::BIND)
            settle_bind(request);
        complete(request);
    }
    reads_ = 0;
    stopped_ = failed_ = false;
}

} // namespace rsmengine
