// SPDX-License-Identifier: MIT
// The answers of dat_ia_query.
#include "libdat/api/functions.h"

#include "engine/core/ia.h"
#include "engine/transport.h"
#include "libdat/api/provider.h"
#include "libdat/api/types.h"

#include <algorithm>
#include <limits>
#include <string_view>

namespace rsmdat {

namespace {

constexpr DAT_UINT32 VERSION_MAJOR = 1;
constexpr DAT_UINT32 VERSION_MINOR = 0;
constexpr DAT_VADDR HIGHEST_ADDRESS = std::numeric_limits<DAT_VADDR>::max();

// `to` is all zero.
void put(char (&to)[DAT_NAME_MAX_LENGTH], std::string_view text) noexcept {
    std::ranges::copy(text.substr(0, DAT_NAME_MAX_LENGTH - 1), to);
}

void describe_adapter(const Ia &ia, DAT_IA_ATTR &attr) noexcept {
    put(attr.adapter_name, ia.name);
    put(attr.vendor_name, "RSM for Linux");
    attr.hardware_version_major = attr.firmware_version_major = VERSION_MAJOR;
    attr.hardware_version_minor = attr.firmware_version_minor = VERSION_MINOR;
    // The consumer is not to write there.
    const auto *address = reinterpret_cast<const DAT_SOCK_ADDR *>(&ia.transport->address());
    attr.ia_address_ptr = const_cast<DAT_SOCK_ADDR *>(address);
}

void describe_endpoints(const LimitSet &limits, DAT_IA_ATTR &attr) noexcept {
    attr.max_eps = limits.eps;
    attr.max_dto_per_ep = limits.dtos_per_ep;
    attr.max_message_size = limits.message;
    attr.max_rdma_size = limits.rdma;
    attr.max_iov_segments_per_dto = limits.iov;
    attr.max_iov_segments_per_rdma_read = attr.max_iov_segments_per_rdma_write = limits.iov;
    attr.max_rdma_read_per_ep_in = attr.max_rdma_read_per_ep_out = limits.rdma_reads_per_ep;
    attr.max_rdma_read_in = attr.max_rdma_read_out = limits.rdma_reads;
    const auto wanted = std::int64_t{limits.rdma_reads_per_ep} * limits.eps;
    attr.max_rdma_read_per_ep_in_guaranteed = attr.max_rdma_read_per_ep_out_guaranteed =
        wanted <= limits.rdma_reads ? DAT_TRUE : DAT_FALSE;
    attr.max_srqs = limits.srqs;
    attr.max_ep_per_srq = limits.eps;
    attr.max_recv_per_srq = limits.recvs_per_srq;
}

void describe_objects(const LimitSet &limits, DAT_IA_ATTR &attr) noexcept {
    attr.max_evds = limits.evds;
    attr.max_evd_qlen = limits.evd_length;
    attr.max_pzs = limits.pzs;
    attr.max_lmrs = limits.lmrs;
    attr.max_lmr_block_size = limits.lmr_length;
    attr.max_lmr_virtual_address = HIGHEST_ADDRESS;
    attr.max_rmrs = limits.rmrs;
    attr.max_rmr_target_address = HIGHEST_ADDRESS;
}

void describe_ia(const Ia &ia, DAT_IA_ATTR &attr) noexcept {
    attr = {};
    describe_adapter(ia, attr);
    describe_endpoints(ia.limits, attr);
    describe_objects(ia.limits, attr);
}

void describe_features(const LimitSet &limits, DAT_PROVIDER_ATTR &attr) noexcept {
    // The union of the types' values, which also reads as SO_VIRTUAL: all are supported.
    attr.lmr_mem_types_supported = DAT_MEM_TYPE_SO_VIRTUAL;
    attr.iov_ownership_on_return = DAT_IOV_CONSUMER;
    attr.dat_qos_supported = DAT_QOS_BEST_EFFORT;
    attr.completion_flags_supported = static_cast<DAT_COMPLETION_FLAGS>(
        DAT_COMPLETION_SUPPRESS_FLAG | DAT_COMPLETION_SOLICITED_WAIT_FLAG |
        DAT_COMPLETION_UNSIGNALLED_FLAG | DAT_COMPLETION_BARRIER_FENCE_FLAG);
    attr.max_private_data_size = limits.private_data;
    attr.supports_multipath = DAT_FALSE;
    attr.ep_creator = DAT_PSP_CREATES_EP_IFASKED;
    attr.pz_support = DAT_PZ_UNIQUE;
    attr.optimal_buffer_alignment = DAT_OPTIMAL_ALIGNMENT;
    attr.lmr_sync_req = DAT_FALSE;
    attr.dto_async_return_guaranteed = DAT_FALSE;
    attr.rdma_write_for_rdma_read_req = DAT_FALSE;
}

// The counts are codes: low, soft high and hard high watermark; available and outstanding; buffers
// and span.
void describe_srqs(const LimitSet &limits, DAT_PROVIDER_ATTR &attr) noexcept {
    attr.srq_supported = limits.srqs > 0 ? DAT_TRUE : DAT_FALSE;
    attr.srq_watermarks_supported = 0x111;
    attr.srq_ep_pz_difference_supported = limits.srq_ep_pz_difference ? DAT_TRUE : DAT_FALSE;
    attr.srq_info_supported = 0x11;
    attr.ep_recv_info_supported = 0x11;
}

void describe_provider(const Ia &ia, DAT_PROVIDER_ATTR &attr) noexcept {
    attr = {};
    put(attr.provider_name, transport_kind.name);
    attr.provider_version_major = VERSION_MAJOR;
    attr.provider_version_minor = VERSION_MINOR;
    const auto &record =
        *static_cast<const Record *>(static_cast<const DAT_PROVIDER *>(ia.face)->extension);
    attr.dapl_version_major = record.info.dapl_version_major;
    attr.dapl_version_minor = record.info.dapl_version_minor;
    attr.is_thread_safe = record.info.is_thread_safe;
    for (auto &row : attr.evd_stream_merging_supported)
        std::ranges::fill(row, DAT_TRUE);
    describe_features(ia.limits, attr);
    describe_srqs(ia.limits, attr);
}

DAT_RETURN check(DAT_IA_ATTR_MASK ia_mask, const DAT_IA_ATTR *ia_attr,
                 DAT_PROVIDER_ATTR_MASK prov_mask, const DAT_PROVIDER_ATTR *prov_attr) noexcept {
    if ((ia_mask & ~DAT_IA_FIELD_ALL) != 0)
        return invalid_parameter(3);
    if (ia_mask != 0 && !ia_attr)
        return invalid_parameter(4);
    if ((prov_mask & ~static_cast<DAT_PROVIDER_ATTR_MASK>(DAT_PROVIDER_FIELD_ALL)) != 0)
        return invalid_parameter(5);
    return prov_mask != 0 && !prov_attr ? invalid_parameter(6) : DAT_RETURN{DAT_SUCCESS};
}

} // namespace

DAT_RETURN ia_query(DAT_IA_HANDLE ia, DAT_EVD_HANDLE *async_evd, DAT_IA_ATTR_MASK ia_mask,
                    DAT_IA_ATTR *ia_attr, DAT_PROVIDER_ATTR_MASK prov_mask,
                    DAT_PROVIDER_ATTR *prov_attr) noexcept {
    const auto locked = enter<Ia>(ia);
    if (!locked)
        return invalid_handle(DAT_INVALID_HANDLE_IA);
    const DAT_RETURN result = check(ia_mask, ia_attr, prov_mask, prov_attr);
    if (result != DAT_SUCCESS)
        return result;
    if (async_evd)
        *async_evd = async_evd_of(*locked);
    if (ia_mask != 0)
        describe_ia(*locked, *ia_attr);
    if (prov_mask != 0)
        describe_provider(*locked, *prov_attr);
    return DAT_SUCCESS;
}

} // namespace rsmdat
