// SPDX-License-Identifier: MIT
// Our requests: binds, and room for all.
#include "transfer/outbound.h"

#include "engine/connect/ep.h"

#include <algorithm>

namespace rsmdat {

void Outbound::resize() {
    const DAT_EP_ATTR &attributes = ep_.attributes;
    const DAT_COUNT iov = std::max(
        {attributes.max_request_iov, attributes.max_rdma_read_iov, attributes.max_rdma_write_iov});
    reads_.reserve(static_cast<std::size_t>(std::max(attributes.max_rdma_read_out, 1)));
    queue_.resize(attributes.max_request_dtos, iov);
}

DAT_RETURN Outbound::bind(Rmr &rmr, const DAT_LMR_TRIPLET &triplet, DAT_MEM_PRIV_FLAGS privileges,
                          const Post &post, DAT_RMR_CONTEXT *context) {
    DAT_RETURN result = may_post(post, 0);
    if (result == DAT_SUCCESS)
        result = check_flags(post, REQUEST_FLAGS, 6);
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
