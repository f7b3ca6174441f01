// SPDX-License-Identifier: MIT
// The functions of the provider's table, by the file that has them. Their descriptions are in the
// comments of <dat/udat.h>.
#pragma once

#include "libdat/api/error.h"

#include <dat/udat.h>

namespace rsmdat {

// ia*.cpp
// The table's function is made from this: the record says which provider was asked (provider.h).
struct Record;
DAT_RETURN ia_open(Record &record, const char *name, DAT_COUNT async_evd_qlen,
                   DAT_EVD_HANDLE *async_evd, DAT_IA_HANDLE *ia) noexcept;
DAT_RETURN ia_query(DAT_IA_HANDLE ia, DAT_EVD_HANDLE *async_evd, DAT_IA_ATTR_MASK ia_mask,
                    DAT_IA_ATTR *ia_attr, DAT_PROVIDER_ATTR_MASK prov_mask,
                    DAT_PROVIDER_ATTR *prov_attr) noexcept;
DAT_RETURN ia_close(DAT_IA_HANDLE ia, DAT_CLOSE_FLAGS flags) noexcept;
DAT_RETURN set_consumer_context(DAT_HANDLE handle, DAT_CONTEXT context) noexcept;
DAT_RETURN get_consumer_context(DAT_HANDLE handle, DAT_CONTEXT *context) noexcept;
DAT_RETURN get_handle_type(DAT_HANDLE handle, DAT_HANDLE_TYPE *type) noexcept;
DAT_RETURN pz_create(DAT_IA_HANDLE ia, DAT_PZ_HANDLE *pz) noexcept;
DAT_RETURN pz_query(DAT_PZ_HANDLE pz, DAT_PZ_PARAM_MASK mask, DAT_PZ_PARAM *param) noexcept;
DAT_RETURN pz_free(DAT_PZ_HANDLE pz) noexcept;

// event*.cpp
DAT_RETURN cno_create(DAT_IA_HANDLE ia, DAT_OS_WAIT_PROXY_AGENT agent,
                      DAT_CNO_HANDLE *cno) noexcept;
DAT_RETURN cno_modify_agent(DAT_CNO_HANDLE cno, DAT_OS_WAIT_PROXY_AGENT agent) noexcept;
DAT_RETURN cno_query(DAT_CNO_HANDLE cno, DAT_CNO_PARAM_MASK mask, DAT_CNO_PARAM *param) noexcept;
DAT_RETURN cno_free(DAT_CNO_HANDLE cno) noexcept;
DAT_RETURN cno_wait(DAT_CNO_HANDLE cno, DAT_TIMEOUT timeout, DAT_EVD_HANDLE *evd) noexcept;
DAT_RETURN evd_create(DAT_IA_HANDLE ia, DAT_COUNT min_qlen, DAT_CNO_HANDLE cno, DAT_EVD_FLAGS flags,
                      DAT_EVD_HANDLE *evd) noexcept;
DAT_RETURN evd_query(DAT_EVD_HANDLE evd, DAT_EVD_PARAM_MASK mask, DAT_EVD_PARAM *param) noexcept;
DAT_RETURN evd_modify_cno(DAT_EVD_HANDLE evd, DAT_CNO_HANDLE cno) noexcept;
DAT_RETURN evd_enable(DAT_EVD_HANDLE evd) noexcept;
DAT_RETURN evd_disable(DAT_EVD_HANDLE evd) noexcept;
DAT_RETURN evd_wait(DAT_EVD_HANDLE evd, DAT_TIMEOUT timeout, DAT_COUNT threshold, DAT_EVENT *event,
                    DAT_COUNT *nmore) noexcept;
DAT_RETURN evd_resize(DAT_EVD_HANDLE evd, DAT_COUNT min_qlen) noexcept;
DAT_RETURN evd_post_se(DAT_EVD_HANDLE evd, const DAT_EVENT *event) noexcept;
DAT_RETURN evd_dequeue(DAT_EVD_HANDLE evd, DAT_EVENT *event) noexcept;
DAT_RETURN evd_free(DAT_EVD_HANDLE evd) noexcept;
DAT_RETURN evd_set_unwaitable(DAT_EVD_HANDLE evd) noexcept;
DAT_RETURN evd_clear_unwaitable(DAT_EVD_HANDLE evd) noexcept;

// memory*.cpp
DAT_RETURN lmr_create(DAT_IA_HANDLE ia, DAT_MEM_TYPE type, DAT_REGION_DESCRIPTION region,
                      DAT_VLEN length, DAT_PZ_HANDLE pz, DAT_MEM_PRIV_FLAGS privileges,
                      DAT_LMR_HANDLE *lmr, DAT_LMR_CONTEXT *lmr_context,
                      DAT_RMR_CONTEXT *rmr_context, DAT_VLEN *registered_size,
                      DAT_VADDR *registered_address) noexcept;
DAT_RETURN lmr_query(DAT_LMR_HANDLE lmr, DAT_LMR_PARAM_MASK mask, DAT_LMR_PARAM *param) noexcept;
DAT_RETURN lmr_free(DAT_LMR_HANDLE lmr) noexcept;
DAT_RETURN lmr_sync_rdma_read(DAT_IA_HANDLE ia, const DAT_LMR_TRIPLET *segments,
                              DAT_VLEN count) noexcept;
DAT_RETURN lmr_sync_rdma_write(DAT_IA_HANDLE ia, const DAT_LMR_TRIPLET *segments,
                               DAT_VLEN count) noexcept;
DAT_RETURN rmr_create(DAT_PZ_HANDLE pz, DAT_RMR_HANDLE *rmr) noexcept;
DAT_RETURN rmr_query(DAT_RMR_HANDLE rmr, DAT_RMR_PARAM_MASK mask, DAT_RMR_PARAM *param) noexcept;
DAT_RETURN rmr_bind(DAT_RMR_HANDLE rmr, const DAT_LMR_TRIPLET *triplet,
                    DAT_MEM_PRIV_FLAGS privileges, DAT_EP_HANDLE ep, DAT_RMR_COOKIE cookie,
                    DAT_COMPLETION_FLAGS flags, DAT_RMR_CONTEXT *context) noexcept;
DAT_RETURN rmr_free(DAT_RMR_HANDLE rmr) noexcept;

// connect*.cpp
DAT_RETURN ep_create(DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz, DAT_EVD_HANDLE recv_evd,
                     DAT_EVD_HANDLE request_evd, DAT_EVD_HANDLE connect_evd,
                     const DAT_EP_ATTR *attr, DAT_EP_HANDLE *ep) noexcept;
DAT_RETURN ep_create_with_srq(DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz, DAT_EVD_HANDLE recv_evd,
                              DAT_EVD_HANDLE request_evd, DAT_EVD_HANDLE connect_evd,
                              DAT_SRQ_HANDLE srq, const DAT_EP_ATTR *attr,
                              DAT_EP_HANDLE *ep) noexcept;
DAT_RETURN ep_query(DAT_EP_HANDLE ep, DAT_EP_PARAM_MASK mask, DAT_EP_PARAM *param) noexcept;
DAT_RETURN ep_modify(DAT_EP_HANDLE ep, DAT_EP_PARAM_MASK mask, const DAT_EP_PARAM *param) noexcept;
DAT_RETURN ep_connect(DAT_EP_HANDLE ep, DAT_IA_ADDRESS_PTR address, DAT_CONN_QUAL qualifier,
                      DAT_TIMEOUT timeout, DAT_COUNT size, const DAT_PVOID data, DAT_QOS qos,
                      DAT_CONNECT_FLAGS flags) noexcept;
DAT_RETURN ep_dup_connect(DAT_EP_HANDLE ep, DAT_EP_HANDLE dup, DAT_TIMEOUT timeout, DAT_COUNT size,
                          const DAT_PVOID data, DAT_QOS qos) noexcept;
DAT_RETURN ep_disconnect(DAT_EP_HANDLE ep, DAT_CLOSE_FLAGS flags) noexcept;
DAT_RETURN ep_get_status(DAT_EP_HANDLE ep, DAT_EP_STATE *state, DAT_BOOLEAN *recv_idle,
                         DAT_BOOLEAN *request_idle) noexcept;
DAT_RETURN ep_free(DAT_EP_HANDLE ep) noexcept;
DAT_RETURN ep_reset(DAT_EP_HANDLE ep) noexcept;
DAT_RETURN psp_create(DAT_IA_HANDLE ia, DAT_CONN_QUAL qualifier, DAT_EVD_HANDLE evd,
                      DAT_PSP_FLAGS flags, DAT_PSP_HANDLE *psp) noexcept;
DAT_RETURN psp_create_any(DAT_IA_HANDLE ia, DAT_CONN_QUAL *qualifier, DAT_EVD_HANDLE evd,
                          DAT_PSP_FLAGS flags, DAT_PSP_HANDLE *psp) noexcept;
DAT_RETURN psp_query(DAT_PSP_HANDLE psp, DAT_PSP_PARAM_MASK mask, DAT_PSP_PARAM *param) noexcept;
DAT_RETURN psp_free(DAT_PSP_HANDLE psp) noexcept;
DAT_RETURN rsp_create(DAT_IA_HANDLE ia, DAT_CONN_QUAL qualifier, DAT_EP_HANDLE ep,
                      DAT_EVD_HANDLE evd, DAT_RSP_HANDLE *rsp) noexcept;
DAT_RETURN rsp_query(DAT_RSP_HANDLE rsp, DAT_RSP_PARAM_MASK mask, DAT_RSP_PARAM *param) noexcept;
DAT_RETURN rsp_free(DAT_RSP_HANDLE rsp) noexcept;
DAT_RETURN cr_query(DAT_CR_HANDLE cr, DAT_CR_PARAM_MASK mask, DAT_CR_PARAM *param) noexcept;
DAT_RETURN cr_accept(DAT_CR_HANDLE cr, DAT_EP_HANDLE ep, DAT_COUNT size,
                     const DAT_PVOID data) noexcept;
DAT_RETURN cr_reject(DAT_CR_HANDLE cr) noexcept;
DAT_RETURN cr_handoff(DAT_CR_HANDLE cr, DAT_CONN_QUAL qualifier) noexcept;

// transfer*.cpp
DAT_RETURN ep_post_send(DAT_EP_HANDLE handle, DAT_COUNT segments, DAT_LMR_TRIPLET *iov,
                        DAT_DTO_COOKIE cookie, DAT_COMPLETION_FLAGS flags) noexcept;
DAT_RETURN ep_post_recv(DAT_EP_HANDLE handle, DAT_COUNT segments, DAT_LMR_TRIPLET *iov,
                        DAT_DTO_COOKIE cookie, DAT_COMPLETION_FLAGS flags) noexcept;
DAT_RETURN ep_post_rdma_read(DAT_EP_HANDLE handle, DAT_COUNT segments, DAT_LMR_TRIPLET *iov,
                             DAT_DTO_COOKIE cookie, const DAT_RMR_TRIPLET *remote,
                             DAT_COMPLETION_FLAGS flags) noexcept;
DAT_RETURN ep_post_rdma_write(DAT_EP_HANDLE handle, DAT_COUNT segments, DAT_LMR_TRIPLET *iov,
                              DAT_DTO_COOKIE cookie, const DAT_RMR_TRIPLET *remote,
                              DAT_COMPLETION_FLAGS flags) noexcept;
DAT_RETURN ep_recv_query(DAT_EP_HANDLE handle, DAT_COUNT *allocated, DAT_COUNT *span) noexcept;
DAT_RETURN ep_set_watermark(DAT_EP_HANDLE handle, DAT_COUNT soft, DAT_COUNT hard) noexcept;
DAT_RETURN srq_create(DAT_IA_HANDLE handle, DAT_PZ_HANDLE pz_handle, DAT_SRQ_ATTR *attr,
                      DAT_SRQ_HANDLE *srq) noexcept;
DAT_RETURN srq_free(DAT_SRQ_HANDLE handle) noexcept;
DAT_RETURN srq_post_recv(DAT_SRQ_HANDLE handle, DAT_COUNT segments, DAT_LMR_TRIPLET *iov,
                         DAT_DTO_COOKIE cookie) noexcept;
DAT_RETURN srq_query(DAT_SRQ_HANDLE handle, DAT_SRQ_PARAM_MASK mask, DAT_SRQ_PARAM *param) noexcept;
DAT_RETURN srq_resize(DAT_SRQ_HANDLE handle, DAT_COUNT max_recv_dtos) noexcept;
DAT_RETURN srq_set_lw(DAT_SRQ_HANDLE handle, DAT_COUNT low_watermark) noexcept;

} // namespace rsmdat
