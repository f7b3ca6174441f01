// SPDX-License-Identifier: MIT
#include "engine/transfer/requests.h"

#include "engine/connect/ep.h"
#include "engine/transfer/flags.h"

#include <algorithm>

namespace rsmdat {
namespace {

constexpr unsigned SEND_FLAGS = REQUEST_FLAGS | DAT_COMPLETION_SOLICITED_WAIT_FLAG;

Arrival arrival_of_bind(const Completion &completion, DAT_RMR_HANDLE rmr) noexcept {
    Arrival arrival;
    arrival.event.event_number = DAT_RMR_BIND_COMPLETION_EVENT;
    arrival.event.event_data.rmr_completion_event_data = {rmr, completion.cookie,
                                                          completion.status};
    arrival.notifies = completion.notifies();
    arrival.credit = completion.credit;
    arrival.owner = completion.ep;
    return arrival;
}

} // namespace

DAT_COUNT Requests::widest() const noexcept {
    const DAT_EP_ATTR &attributes = ep_.attributes;
    return std::max(
        {attributes.max_request_iov, attributes.max_rdma_read_iov, attributes.max_rdma_write_iov});
}

void Requests::resize() {
    queue_.resize(ep_.attributes.max_request_dtos, widest());
}

DAT_RETURN Requests::may_post(const Post &post, DAT_COUNT most) const noexcept {
    if (ep_.state != DAT_EP_STATE_CONNECTED && ep_.state != DAT_EP_STATE_DISCONNECTED)
        return invalid_state(ep_.state_subtype());
    if (post.segments < 0 || post.segments > most)
        return invalid_parameter(2);
    if (post.segments > 0 && !post.iov)
        return invalid_parameter(3);
    return DAT_SUCCESS;
}

DAT_RETURN Requests::check_flags(const Post &post, unsigned flags, int position) const noexcept {
    const unsigned unsignalled = ep_.attributes.request_completion_flags &
                                 static_cast<unsigned>(DAT_COMPLETION_UNSIGNALLED_FLAG);
    const unsigned allowed =
        unsignalled != 0 ? flags : flags & ~static_cast<unsigned>(DAT_COMPLETION_UNSIGNALLED_FLAG);
    if ((static_cast<unsigned>(post.flags) & ~allowed) != 0)
        return invalid_parameter(position);
    return DAT_SUCCESS;
}

// Gathers into the place of the next request.
DAT_RETURN Requests::gather(const Post &post, DAT_MEM_PRIV_FLAGS privilege,
                            Request &request) noexcept {
    request.flags = post.flags;
    request.cookie = post.cookie;
    return ep_.ia().transport->contexts.gather(ep_.pz, post.segments, post.iov, privilege,
                                               queue_.room(), request.pieces, request.length);
}

bool Requests::full() const noexcept {
    return ep_.request_evd == nullptr || in_use_ >= ep_.attributes.max_request_dtos;
}

DAT_RETURN Requests::queue(const Request &request) noexcept {
    if (full())
        return no_resource(DAT_RESOURCE_MEMORY);
    queue_.vacant() = request;
    queue_.push();
    ++in_use_;
    return DAT_SUCCESS;
}

DAT_RETURN Requests::send(const Post &post) noexcept {
    Request request{};
    request.kind = Request::Kind::SEND;
    DAT_RETURN result = may_post(post, ep_.attributes.max_request_iov);
    if (result == DAT_SUCCESS)
        result = check_flags(post, SEND_FLAGS, 5);
    if (result == DAT_SUCCESS)
        result = gather(post, DAT_MEM_PRIV_LOCAL_READ_FLAG, request);
    if (result != DAT_SUCCESS)
        return result;
    if (request.length > ep_.attributes.max_message_size)
        return invalid_parameter(3);
    return queue(request);
}

DAT_RETURN Requests::rdma(bool write, const Post &post, const DAT_RMR_TRIPLET *remote) noexcept {
    const DAT_EP_ATTR &attributes = ep_.attributes;
    Request request{};
    request.kind = write ? Request::Kind::WRITE : Request::Kind::READ;
    DAT_RETURN result =
        may_post(post, write ? attributes.max_rdma_write_iov : attributes.max_rdma_read_iov);
    if (result == DAT_SUCCESS && !remote)
        result = invalid_parameter(5);
    if (result == DAT_SUCCESS)
        result = check_flags(post, REQUEST_FLAGS, 6);
    if (result != DAT_SUCCESS)
        return result;
    result =
        gather(post, write ? DAT_MEM_PRIV_LOCAL_READ_FLAG : DAT_MEM_PRIV_LOCAL_WRITE_FLAG, request);
    if (result != DAT_SUCCESS)
        return result;
    const DAT_VLEN there = remote->segment_length;
    if (write ? there < request.length : request.length < there)
        return failure(DAT_LENGTH_ERROR);
    if (!write)
        request.length = there;
    if (request.length > attributes.max_rdma_size)
        return failure(DAT_LENGTH_ERROR);
    request.context = remote->rmr_context;
    request.address = remote->target_address;
    return queue(request);
}

// Takes the oldest request from the queue.
void Requests::complete(Request &request) noexcept {
    const bool silent =
        request.status == DAT_DTO_SUCCESS && has_flag(request.flags, DAT_COMPLETION_SUPPRESS_FLAG);
    if (silent || !ep_.request_evd) {
        queue_.pop();
        --in_use_;
        return;
    }
    const Completion completion{ep_.handle(),
                                request.cookie,
                                request.status,
                                request.length,
                                has_flag(request.flags, DAT_COMPLETION_UNSIGNALLED_FLAG),
                                &in_use_};
    const bool bind = request.kind == Request::Kind::BIND;
    const DAT_RMR_HANDLE rmr = request.rmr;
    queue_.pop();
    const bool delivered = bind ? ep_.request_evd->deliver(arrival_of_bind(completion, rmr))
                                : ep_.request_evd->deliver(completion);
    if (!delivered)
        ep_.lost_event = true;
}

} // namespace rsmdat
