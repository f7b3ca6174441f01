// SPDX-License-Identifier: MIT
#include "engine/transfer/requests.h"

#include "engine/connect/ep.h"

#include <algorithm>

namespace rsmengine {
namespace {

constexpr CompletionFlags SEND_FLAGS = REQUEST_FLAGS | CompletionFlags::SOLICITED;

Arrival arrival_of_bind(const Completion &completion, Handle rmr) noexcept {
    Arrival arrival;
    arrival.event.kind = EventKind::BIND;
    arrival.event.bind = {rmr, completion.cookie, completion.status};
    arrival.notifies = completion.notifies();
    arrival.credit = completion.credit;
    arrival.owner = completion.ep;
    return arrival;
}

} // namespace

Count Requests::widest() const noexcept {
    const EpAttributes &attributes = ep_.attributes;
    return std::max(
        {attributes.max_request_iov, attributes.max_rdma_read_iov, attributes.max_rdma_write_iov});
}

void Requests::resize() {
    queue_.resize(ep_.attributes.max_request_dtos, widest());
}

Status Requests::may_post(const Post &post, Count most) const noexcept {
    if (ep_.state != EpState::CONNECTED && ep_.state != EpState::DISCONNECTED)
        return ep_.wrong_state();
    if (post.segments < 0 || post.segments > most)
        return Status::BAD_SEGMENT_COUNT;
    if (post.segments > 0 && !post.iov)
        return Status::BAD_SEGMENT;
    return Status::OK;
}

Status Requests::check_flags(const Post &post, CompletionFlags flags,
                             Status refusal) const noexcept {
    CompletionFlags allowed = flags;
    if (!has_flag(ep_.attributes.request_completion_flags, CompletionFlags::UNSIGNALLED))
        allowed = without(allowed, CompletionFlags::UNSIGNALLED);
    return without(post.flags, allowed) == CompletionFlags::DEFAULT ? Status::OK : refusal;
}

// Gathers into the place of the next request.
Status Requests::gather(const Post &post, unsigned privilege, Request &request) noexcept {
    request.flags = post.flags;
    request.cookie = post.cookie;
    return ep_.ia().transport->contexts.gather(ep_.pz, post.segments, post.iov, privilege,
                                               queue_.room(), request.pieces, request.length);
}

bool Requests::full() const noexcept {
    return ep_.request_evd == nullptr || in_use_ >= ep_.attributes.max_request_dtos;
}

Status Requests::queue(const Request &request) noexcept {
    if (full())
        return Status::NO_MEMORY;
    queue_.vacant() = request;
    queue_.push();
    ++in_use_;
    return Status::OK;
}

Status Requests::send(const Post &post) noexcept {
    Request request{};
    request.kind = Request::Kind::SEND;
    Status result = may_post(post, ep_.attributes.max_request_iov);
    if (result == Status::OK)
        result = check_flags(post, SEND_FLAGS, Status::BAD_MESSAGE_FLAGS);
    if (result == Status::OK)
        result = gather(post, rights::LOCAL_READ, request);
    if (result != Status::OK)
        return result;
    if (request.length > ep_.attributes.max_message_size)
        return Status::BAD_SEGMENT;
    return queue(request);
}

Status Requests::rdma(bool write, const Post &post, View<RemoteSegment> remote) noexcept {
    const EpAttributes &attributes = ep_.attributes;
    Request request{};
    request.kind = write ? Request::Kind::WRITE : Request::Kind::READ;
    Status result =
        may_post(post, write ? attributes.max_rdma_write_iov : attributes.max_rdma_read_iov);
    if (result == Status::OK && !remote)
        result = Status::BAD_REMOTE_SEGMENT;
    if (result == Status::OK)
        result = check_flags(post, REQUEST_FLAGS, Status::BAD_RDMA_FLAGS);
    if (result != Status::OK)
        return result;
    result = gather(post, write ? rights::LOCAL_READ : rights::LOCAL_WRITE, request);
    if (result != Status::OK)
        return result;
    const RemoteSegment target = *remote;
    const std::uint64_t there = target.length;
    if (write ? there < request.length : request.length < there)
        return Status::LENGTH_MISMATCH;
    if (!write)
        request.length = there;
    if (request.length > attributes.max_rdma_size)
        return Status::LENGTH_MISMATCH;
    request.context = target.key;
    request.address = target.address;
    return queue(request);
}

// Takes the oldest request from the queue.
void Requests::complete(Request &request) noexcept {
    const bool silent = request.status == CompletionStatus::OK &&
                        has_flag(request.flags, CompletionFlags::SUPPRESS);
    if (silent || !ep_.request_evd) {
        queue_.pop();
        --in_use_;
        return;
    }
    const Completion completion{ep_.handle(),
                                request.cookie,
                                request.status,
                                request.length,
                                has_flag(request.flags, CompletionFlags::UNSIGNALLED),
                                &in_use_};
    const bool bind = request.kind == Request::Kind::BIND;
    auto *const rmr = request.rmr;
    queue_.pop();
    const bool delivered = bind ? ep_.request_evd->deliver(arrival_of_bind(completion, rmr))
                                : ep_.request_evd->deliver(completion);
    if (!delivered)
        ep_.lost_event = true;
}

} // namespace rsmengine
