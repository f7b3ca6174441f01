// SPDX-License-Identifier: MIT
// Attributes of an endpoint.
#include "libdat/api/attributes.h"

#include "libdat/api/error.h"
#include "libdat/api/types.h"

namespace rsmdat {
namespace {

bool good_names(DAT_COUNT count, const DAT_NAMED_ATTR *names) noexcept {
    return count == 0 || (count > 0 && names != nullptr);
}

bool are_known(const DAT_EP_ATTR &attr) noexcept {
    return attr.service_type == DAT_SERVICE_TYPE_RC &&
           is_known_qos(attr.qos) &&
           good_names(attr.ep_transport_specific_count, attr.ep_transport_specific) &&
           good_names(attr.ep_provider_specific_count, attr.ep_provider_specific);
}

} // namespace

EpAttributes to_attributes(const DAT_EP_ATTR &attr) noexcept {
    return {.max_message_size = attr.max_message_size,
            .max_rdma_size = attr.max_rdma_size,
            .recv_completion_flags = to_flags(attr.recv_completion_flags),
            .request_completion_flags = to_flags(attr.request_completion_flags),
            .max_recv_dtos = attr.max_recv_dtos,
            .max_request_dtos = attr.max_request_dtos,
            .max_recv_iov = attr.max_recv_iov,
            .max_request_iov = attr.max_request_iov,
            .max_rdma_read_in = attr.max_rdma_read_in,
            .max_rdma_read_out = attr.max_rdma_read_out,
            .srq_soft_hw = attr.srq_soft_hw,
            .max_rdma_read_iov = attr.max_rdma_read_iov,
            .max_rdma_write_iov = attr.max_rdma_write_iov};
}

DAT_EP_ATTR to_attr(const EpAttributes &attributes) noexcept {
    return {.service_type = DAT_SERVICE_TYPE_RC,
            .max_message_size = attributes.max_message_size,
            .max_rdma_size = attributes.max_rdma_size,
            .qos = DAT_QOS_BEST_EFFORT,
            .recv_completion_flags =
                static_cast<DAT_COMPLETION_FLAGS>(attributes.recv_completion_flags),
            .request_completion_flags =
                static_cast<DAT_COMPLETION_FLAGS>(attributes.request_completion_flags),
            .max_recv_dtos = attributes.max_recv_dtos,
            .max_request_dtos = attributes.max_request_dtos,
            .max_recv_iov = attributes.max_recv_iov,
            .max_request_iov = attributes.max_request_iov,
            .max_rdma_read_in = attributes.max_rdma_read_in,
            .max_rdma_read_out = attributes.max_rdma_read_out,
            .srq_soft_hw = attributes.srq_soft_hw,
            .max_rdma_read_iov = attributes.max_rdma_read_iov,
            .max_rdma_write_iov = attributes.max_rdma_write_iov,
            .ep_transport_specific_count = 0,
            .ep_transport_specific = nullptr,
            .ep_provider_specific_count = 0,
            .ep_provider_specific = nullptr};
}

DAT_RETURN check_attributes(const LimitSet &limits, const DAT_EP_ATTR &attr, bool with_srq,
                            int position) noexcept {
    if (!are_known(attr) || !are_possible(limits, to_attributes(attr), with_srq))
        return invalid_parameter(position);
    const bool asks_more = attr.qos != DAT_QOS_BEST_EFFORT ||
                           attr.ep_transport_specific_count > 0 ||
                           attr.ep_provider_specific_count > 0;
    return asks_more ? failure(DAT_MODEL_NOT_SUPPORTED) : DAT_RETURN{DAT_SUCCESS};
}

} // namespace rsmdat
