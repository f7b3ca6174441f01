// SPDX-License-Identifier: MIT
// Our requests: what a post is checked for.
#include "transfer/outbound.h"

#include "connect/ep.h"

#include <algorithm>

namespace rsmdat {
namespace {

constexpr unsigned REQUEST_FLAGS = DAT_COMPLETION_SUPPRESS_FLAG | DAT_COMPLETION_UNSIGNALLED_FLAG |
                                   DAT_COMPLETION_BARRIER_FENCE_FLAG;
constexpr unsigned SEND_FLAGS = REQUEST_FLAGS | DAT_COMPLETION_SOLICITED_WAIT_FLAG;

} // namespace

void Outbound::resize() {
    const DAT_EP_ATTR &attributes = ep_.attributes;
    const DAT_COUNT iov = std::max(
        {attributes.max_request_iov, attributes.max_rdma_read_iov, attributes.max_rdma_write_iov});
    reads_.reserve(static_cast<std::size_t>(std::max(attributes.max_rdma_read_out, 1)));
    queue_.resize(attributes.max_request_dtos, iov);
}

DAT_RETURN Outbound::may_post(const Post &post, DAT_COUNT most, unsigned flags,
                              int flags_position) const noexcept {
    if (ep_.state != DAT_EP_STATE_CONNECTED && ep_.state != DAT_EP_STATE_DISCONNECTED)
        return invalid_state(ep_.state_subtype());
    if (post.segments < 0 || post.segments > most)
        return invalid_parameter(2);
    if (post.segments > 0 && !post.iov)
        return invalid_parameter(3);
    const unsigned unsignalled = ep_.attributes.request_completion_flags &
                                 static_cast<unsigned>(DAT_COMPLETION_UNSIGNALLED_FLAG);
    const unsigned allowed =
        unsignalled != 0 ? flags : flags & ~static_cast<unsigned>(DAT_COMPLETION_UNSIGNALLED_FLAG);
    if ((static_cast<unsigned>(post.flags) & ~allowed) != 0)
        return invalid_parameter(flags_position);
    return DAT_SUCCESS;
}

// Into the vacant place's room.
DAT_RETURN Outbound::gather(const Post &post, DAT_MEM_PRIV_FLAGS privilege,
                            Request &request) noexcept {
    request.flags = post.flags;
    request.cookie = post.cookie;
    return ep_.ia().contexts->gather(ep_.pz, post.segments, post.iov, privilege, queue_.room(),
                                     request.pieces, request.length);
}

bool Outbound::full() const noexcept {
    return ep_.request_evd == nullptr || in_use_ >= ep_.attributes.max_request_dtos;
}

DAT_RETURN Outbound::queue(const Request &request) noexcept {
    if (full())
        return no_resource(DAT_RESOURCE_MEMORY);
    queue_.vacant() = request;
    queue_.push();
    ++in_use_;
    return DAT_SUCCESS;
}

DAT_RETURN Outbound::send(const Post &post) noexcept {
    Request request{};
    request.kind = Request::Kind::SEND;
    DAT_RETURN result = may_post(post, ep_.attributes.max_request_iov, SEND_FLAGS, 5);
    if (result == DAT_SUCCESS)
        result = gather(post, DAT_MEM_PRIV_LOCAL_READ_FLAG, request);
    if (result != DAT_SUCCESS)
        return result;
    if (request.length > ep_.attributes.max_message_size)
        return invalid_parameter(3);
    return queue(request);
}

DAT_RETURN Outbound::rdma(bool write, const Post &post, const DAT_RMR_TRIPLET *remote) noexcept {
    const DAT_EP_ATTR &attributes = ep_.attributes;
    Request request{};
    request.kind = write ? Request::Kind::WRITE : Request::Kind::READ;
    DAT_RETURN result =
        may_post(post, write ? attributes.max_rdma_write_iov : attributes.max_rdma_read_iov,
                 REQUEST_FLAGS, 6);
    if (result != DAT_SUCCESS)
        return result;
    if (!remote)
        return invalid_parameter(5);
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

DAT_RETURN Outbound::bind(Rmr &rmr, const DAT_LMR_TRIPLET &triplet, DAT_MEM_PRIV_FLAGS privileges,
                          const Post &post, DAT_RMR_CONTEXT *context) {
    DAT_RETURN result = may_post(post, 0, REQUEST_FLAGS, 6);
    if (result != DAT_SUCCESS)
        return result;
    std::list<Rmr::Prepared> bind(1);
    Rmr::Prepared &prepared = bind.front();
    result = rmr.prepare(triplet, privileges, ep_.pz, prepared);
    if (result != DAT_SUCCESS)
        return result;
    if (full()) {
        Rmr::drop(prepared);
        return no_resource(DAT_RESOURCE_MEMORY);
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

} // namespace rsmdat
