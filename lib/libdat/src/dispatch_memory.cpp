// SPDX-License-Identifier: MIT
// Protection zones, memory regions and shared receive queues.
#include "dispatch.h"

DAT_RETURN dat_pz_create(DAT_IA_HANDLE ia_handle, DAT_PZ_HANDLE *pz_handle) {
    return dat::dispatch<&DAT_PROVIDER::pz_create_func, DAT_INVALID_HANDLE_IA>(ia_handle,
                                                                               pz_handle);
}

DAT_RETURN dat_pz_free(DAT_PZ_HANDLE pz_handle) {
    return dat::dispatch<&DAT_PROVIDER::pz_free_func, DAT_INVALID_HANDLE_PZ>(pz_handle);
}

DAT_RETURN dat_pz_query(DAT_PZ_HANDLE pz_handle, DAT_PZ_PARAM_MASK pz_param_mask,
                        DAT_PZ_PARAM *pz_param) {
    return dat::dispatch<&DAT_PROVIDER::pz_query_func, DAT_INVALID_HANDLE_PZ>(
        pz_handle, pz_param_mask, pz_param);
}

DAT_RETURN dat_lmr_create(DAT_IA_HANDLE ia_handle, DAT_MEM_TYPE mem_type,
                          DAT_REGION_DESCRIPTION region_description, DAT_VLEN length,
                          DAT_PZ_HANDLE pz_handle, DAT_MEM_PRIV_FLAGS privileges,
                          DAT_LMR_HANDLE *lmr_handle, DAT_LMR_CONTEXT *lmr_context,
                          DAT_RMR_CONTEXT *rmr_context, DAT_VLEN *registered_size,
                          DAT_VADDR *registered_address) {
    return dat::dispatch<&DAT_PROVIDER::lmr_create_func, DAT_INVALID_HANDLE_IA>(
        ia_handle, mem_type, region_description, length, pz_handle, privileges, lmr_handle,
        lmr_context, rmr_context, registered_size, registered_address);
}

DAT_RETURN dat_lmr_free(DAT_LMR_HANDLE lmr_handle) {
    return dat::dispatch<&DAT_PROVIDER::lmr_free_func, DAT_INVALID_HANDLE_LMR>(lmr_handle);
}

DAT_RETURN dat_lmr_query(DAT_LMR_HANDLE lmr_handle, DAT_LMR_PARAM_MASK lmr_param_mask,
                         DAT_LMR_PARAM *lmr_param) {
    return dat::dispatch<&DAT_PROVIDER::lmr_query_func, DAT_INVALID_HANDLE_LMR>(
        lmr_handle, lmr_param_mask, lmr_param);
}

DAT_RETURN dat_lmr_sync_rdma_read(DAT_IA_HANDLE ia_handle, const DAT_LMR_TRIPLET *local_segments,
                                  DAT_VLEN num_segments) {
    return dat::dispatch<&DAT_PROVIDER::lmr_sync_rdma_read_func, DAT_INVALID_HANDLE_IA>(
        ia_handle, local_segments, num_segments);
}

DAT_RETURN dat_lmr_sync_rdma_write(DAT_IA_HANDLE ia_handle, const DAT_LMR_TRIPLET *local_segments,
                                   DAT_VLEN num_segments) {
    return dat::dispatch<&DAT_PROVIDER::lmr_sync_rdma_write_func, DAT_INVALID_HANDLE_IA>(
        ia_handle, local_segments, num_segments);
}

DAT_RETURN dat_rmr_bind(DAT_RMR_HANDLE rmr_handle, const DAT_LMR_TRIPLET *lmr_triplet,
                        DAT_MEM_PRIV_FLAGS mem_priv, DAT_EP_HANDLE ep_handle,
                        DAT_RMR_COOKIE user_cookie, DAT_COMPLETION_FLAGS completion_flags,
                        DAT_RMR_CONTEXT *rmr_context) {
    return dat::dispatch<&DAT_PROVIDER::rmr_bind_func, DAT_INVALID_HANDLE_RMR>(
        rmr_handle, lmr_triplet, mem_priv, ep_handle, user_cookie, completion_flags, rmr_context);
}

DAT_RETURN dat_rmr_create(DAT_PZ_HANDLE pz_handle, DAT_RMR_HANDLE *rmr_handle) {
    return dat::dispatch<&DAT_PROVIDER::rmr_create_func, DAT_INVALID_HANDLE_PZ>(pz_handle,
                                                                                rmr_handle);
}

DAT_RETURN dat_rmr_free(DAT_RMR_HANDLE rmr_handle) {
    return dat::dispatch<&DAT_PROVIDER::rmr_free_func, DAT_INVALID_HANDLE_RMR>(rmr_handle);
}

DAT_RETURN dat_rmr_query(DAT_RMR_HANDLE rmr_handle, DAT_RMR_PARAM_MASK rmr_param_mask,
                         DAT_RMR_PARAM *rmr_param) {
    return dat::dispatch<&DAT_PROVIDER::rmr_query_func, DAT_INVALID_HANDLE_RMR>(
        rmr_handle, rmr_param_mask, rmr_param);
}

DAT_RETURN dat_srq_create(DAT_IA_HANDLE ia_handle, DAT_PZ_HANDLE pz_handle, DAT_SRQ_ATTR *srq_attr,
                          DAT_SRQ_HANDLE *srq_handle) {
    return dat::dispatch<&DAT_PROVIDER::srq_create_func, DAT_INVALID_HANDLE_IA>(
        ia_handle, pz_handle, srq_attr, srq_handle);
}

DAT_RETURN dat_srq_free(DAT_SRQ_HANDLE srq_handle) {
    return dat::dispatch<&DAT_PROVIDER::srq_free_func, DAT_INVALID_HANDLE_SRQ>(srq_handle);
}

DAT_RETURN dat_srq_post_recv(DAT_SRQ_HANDLE srq_handle, DAT_COUNT num_segments,
                             DAT_LMR_TRIPLET *local_iov, DAT_DTO_COOKIE user_cookie) {
    return dat::dispatch<&DAT_PROVIDER::srq_post_recv_func, DAT_INVALID_HANDLE_SRQ>(
        srq_handle, num_segments, local_iov, user_cookie);
}

DAT_RETURN dat_srq_query(DAT_SRQ_HANDLE srq_handle, DAT_SRQ_PARAM_MASK srq_param_mask,
                         DAT_SRQ_PARAM *srq_param) {
    return dat::dispatch<&DAT_PROVIDER::srq_query_func, DAT_INVALID_HANDLE_SRQ>(
        srq_handle, srq_param_mask, srq_param);
}

DAT_RETURN dat_srq_resize(DAT_SRQ_HANDLE srq_handle, DAT_COUNT srq_max_recv_dto) {
    return dat::dispatch<&DAT_PROVIDER::srq_resize_func, DAT_INVALID_HANDLE_SRQ>(srq_handle,
                                                                                 srq_max_recv_dto);
}

DAT_RETURN dat_srq_set_lw(DAT_SRQ_HANDLE srq_handle, DAT_COUNT low_watermark) {
    return dat::dispatch<&DAT_PROVIDER::srq_set_lw_func, DAT_INVALID_HANDLE_SRQ>(srq_handle,
                                                                                 low_watermark);
}
