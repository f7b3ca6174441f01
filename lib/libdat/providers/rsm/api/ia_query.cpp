// SPDX-License-Identifier: MIT
// What dat_ia_query answers.
#include "api/functions.h"

#include "api/provider.h"
#include "connect/nodes.h"
#include "core/ia.h"
#include "core/limits.h"

#include <algorithm>
#include <limits>
#include <string_view>

namespace rsmdat::api {

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
    const auto *address = reinterpret_cast<const DAT_SOCK_ADDR *>(&ia.nodes->own_address());
    attr.ia_address_ptr = const_cast<DAT_SOCK_ADDR *>(address);
}

void describe_endpoints(DAT_IA_ATTR &attr) noexcept {
    attr.max_eps = limits::EPS;
    attr.max_dto_per_ep = limits::DTOS_PER_EP;
    attr.max_message_size = limits::MESSAGE;
    attr.max_rdma_size = limits::RDMA;
    attr.max_iov_segments_per_dto = limits::IOV;
    attr.max_iov_segments_per_rdma_read = attr.max_iov_segments_per_rdma_write = limits::IOV;
    attr.max_rdma_read_per_ep_in = attr.max_rdma_read_per_ep_out = limits::RDMA_READS_PER_EP;
    attr.max_rdma_read_in = attr.max_rdma_read_out = limits::EPS * limits::RDMA_READS_PER_EP;
    attr.max_rdma_read_per_ep_in_guaranteed = DAT_TRUE;
    attr.max_rdma_read_per_ep_out_guaranteed = DAT_TRUE;
    attr.max_srqs = limits::SRQS;
    attr.max_ep_per_srq = limits::EPS;
    attr.max_recv_per_srq = limits::RECVS_PER_SRQ;
}

void describe_objects(DAT_IA_ATTR &attr) noexcept {
    attr.max_evds = limits::EVDS;
    attr.max_evd_qlen = limits::EVD_LENGTH;
    attr.max_pzs = limits::PZS;
    attr.max_lmrs = limits::LMRS;
    attr.max_lmr_block_size = limits::LMR_LENGTH;
    attr.max_lmr_virtual_address = HIGHEST_ADDRESS;
    attr.max_rmrs = limits::RMRS;
    attr.max_rmr_target_address = HIGHEST_ADDRESS;
}

void describe_ia(const Ia &ia, DAT_IA_ATTR &attr) noexcept {
    attr = {};
    describe_adapter(ia, attr);
    describe_endpoints(attr);
    describe_objects(attr);
}

void describe_features(DAT_PROVIDER_ATTR &attr) noexcept {
    // The union of the types' values, which also reads as SO_VIRTUAL: all are supported.
    attr.lmr_mem_types_supported = DAT_MEM_TYPE_SO_VIRTUAL;
    attr.iov_ownership_on_return = DAT_IOV_CONSUMER;
    attr.dat_qos_supported = DAT_QOS_BEST_EFFORT;
    attr.completion_flags_supported = static_cast<DAT_COMPLETION_FLAGS>(
        DAT_COMPLETION_SUPPRESS_FLAG | DAT_COMPLETION_SOLICITED_WAIT_FLAG |
        DAT_COMPLETION_UNSIGNALLED_FLAG | DAT_COMPLETION_BARRIER_FENCE_FLAG);
    attr.max_private_data_size = limits::PRIVATE_DATA;
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
void describe_srqs(DAT_PROVIDER_ATTR &attr) noexcept {
    attr.srq_supported = DAT_TRUE;
    attr.srq_watermarks_supported = 0x111;
    attr.srq_ep_pz_difference_supported = limits::SRQ_EP_PZ_DIFFERENCE ? DAT_TRUE : DAT_FALSE;
    attr.srq_info_supported = 0x11;
    attr.ep_recv_info_supported = 0x11;
}

void describe_provider(const Ia &ia, DAT_PROVIDER_ATTR &attr) noexcept {
    attr = {};
    put(attr.provider_name, "rsm");
    attr.provider_version_major = VERSION_MAJOR;
    attr.provider_version_minor = VERSION_MINOR;
    const auto &record = *static_cast<const Record *>(ia.provider.extension);
    attr.dapl_version_major = record.info.dapl_version_major;
    attr.dapl_version_minor = record.info.dapl_version_minor;
    attr.is_thread_safe = record.info.is_thread_safe;
    for (auto &row : attr.evd_stream_merging_supported)
        std::ranges::fill(row, DAT_TRUE);
    describe_features(attr);
    describe_srqs(attr);
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
    const auto entered = enter<Ia>(ia);
    if (!entered)
        return invalid_handle(DAT_INVALID_HANDLE_IA);
    const DAT_RETURN result = check(ia_mask, ia_attr, prov_mask, prov_attr);
    if (result != DAT_SUCCESS)
        return result;
    if (async_evd)
        *async_evd = entered->async_handle;
    if (ia_mask != 0)
        describe_ia(*entered, *ia_attr);
    if (prov_mask != 0)
        describe_provider(*entered, *prov_attr);
    return DAT_SUCCESS;
}

} // namespace rsmdat::api
