// SPDX-License-Identifier: MIT
// The table of a provider: number of each slot, function that leads to it, and what
// that says about a first argument that is no handle. The slots of dat_ia_openv() and
// dat_ia_close(), 2 and 4, are the registry's.
#pragma once

#define DAT_SLOTS(X)                                                                               \
    X(3, ia_query, DAT_INVALID_HANDLE_IA)                                                          \
    X(5, set_consumer_context, DAT_INVALID_HANDLE1)                                                \
    X(6, get_consumer_context, DAT_INVALID_HANDLE1)                                                \
    X(7, get_handle_type, DAT_INVALID_HANDLE1)                                                     \
    X(8, cno_create, DAT_INVALID_HANDLE_IA)                                                        \
    X(9, cno_modify_agent, DAT_INVALID_HANDLE_CNO)                                                 \
    X(10, cno_query, DAT_INVALID_HANDLE_CNO)                                                       \
    X(11, cno_free, DAT_INVALID_HANDLE_CNO)                                                        \
    X(12, cno_wait, DAT_INVALID_HANDLE_CNO)                                                        \
    X(13, cr_query, DAT_INVALID_HANDLE_CR)                                                         \
    X(14, cr_accept, DAT_INVALID_HANDLE_CR)                                                        \
    X(15, cr_reject, DAT_INVALID_HANDLE_CR)                                                        \
    X(16, cr_handoff, DAT_INVALID_HANDLE_CR)                                                       \
    X(17, evd_create, DAT_INVALID_HANDLE_IA)                                                       \
    X(18, evd_query, DAT_INVALID_HANDLE1)                                                          \
    X(19, evd_modify_cno, DAT_INVALID_HANDLE1)                                                     \
    X(20, evd_enable, DAT_INVALID_HANDLE1)                                                         \
    X(21, evd_disable, DAT_INVALID_HANDLE1)                                                        \
    X(22, evd_wait, DAT_INVALID_HANDLE1)                                                           \
    X(23, evd_resize, DAT_INVALID_HANDLE1)                                                         \
    X(24, evd_post_se, DAT_INVALID_HANDLE1)                                                        \
    X(25, evd_dequeue, DAT_INVALID_HANDLE1)                                                        \
    X(26, evd_free, DAT_INVALID_HANDLE1)                                                           \
    X(27, ep_create, DAT_INVALID_HANDLE_IA)                                                        \
    X(28, ep_query, DAT_INVALID_HANDLE_EP)                                                         \
    X(29, ep_modify, DAT_INVALID_HANDLE_EP)                                                        \
    X(30, ep_connect, DAT_INVALID_HANDLE_EP)                                                       \
    X(31, ep_dup_connect, DAT_INVALID_HANDLE_EP)                                                   \
    X(32, ep_disconnect, DAT_INVALID_HANDLE_EP)                                                    \
    X(33, ep_post_send, DAT_INVALID_HANDLE_EP)                                                     \
    X(34, ep_post_recv, DAT_INVALID_HANDLE_EP)                                                     \
    X(35, ep_post_rdma_read, DAT_INVALID_HANDLE_EP)                                                \
    X(36, ep_post_rdma_write, DAT_INVALID_HANDLE_EP)                                               \
    X(37, ep_get_status, DAT_INVALID_HANDLE_EP)                                                    \
    X(38, ep_free, DAT_INVALID_HANDLE_EP)                                                          \
    X(39, lmr_create, DAT_INVALID_HANDLE_IA)                                                       \
    X(40, lmr_query, DAT_INVALID_HANDLE_LMR)                                                       \
    X(41, lmr_free, DAT_INVALID_HANDLE_LMR)                                                        \
    X(42, rmr_create, DAT_INVALID_HANDLE_PZ)                                                       \
    X(43, rmr_query, DAT_INVALID_HANDLE_RMR)                                                       \
    X(44, rmr_bind, DAT_INVALID_HANDLE_RMR)                                                        \
    X(45, rmr_free, DAT_INVALID_HANDLE_RMR)                                                        \
    X(46, psp_create, DAT_INVALID_HANDLE_IA)                                                       \
    X(47, psp_query, DAT_INVALID_HANDLE_PSP)                                                       \
    X(48, psp_free, DAT_INVALID_HANDLE_PSP)                                                        \
    X(49, rsp_create, DAT_INVALID_HANDLE_IA)                                                       \
    X(50, rsp_query, DAT_INVALID_HANDLE_RSP)                                                       \
    X(51, rsp_free, DAT_INVALID_HANDLE_RSP)                                                        \
    X(52, pz_create, DAT_INVALID_HANDLE_IA)                                                        \
    X(53, pz_query, DAT_INVALID_HANDLE_PZ)                                                         \
    X(54, pz_free, DAT_INVALID_HANDLE_PZ)                                                          \
    X(55, psp_create_any, DAT_INVALID_HANDLE_IA)                                                   \
    X(56, ep_reset, DAT_INVALID_HANDLE_EP)                                                         \
    X(57, evd_set_unwaitable, DAT_INVALID_HANDLE1)                                                 \
    X(58, evd_clear_unwaitable, DAT_INVALID_HANDLE1)                                               \
    X(59, lmr_sync_rdma_read, DAT_INVALID_HANDLE_IA)                                               \
    X(60, lmr_sync_rdma_write, DAT_INVALID_HANDLE_IA)                                              \
    X(61, ep_create_with_srq, DAT_INVALID_HANDLE_IA)                                               \
    X(62, ep_recv_query, DAT_INVALID_HANDLE_EP)                                                    \
    X(63, ep_set_watermark, DAT_INVALID_HANDLE_EP)                                                 \
    X(64, srq_create, DAT_INVALID_HANDLE_IA)                                                       \
    X(65, srq_free, DAT_INVALID_HANDLE_SRQ)                                                        \
    X(66, srq_post_recv, DAT_INVALID_HANDLE_SRQ)                                                   \
    X(67, srq_query, DAT_INVALID_HANDLE_SRQ)                                                       \
    X(68, srq_resize, DAT_INVALID_HANDLE_SRQ)                                                      \
    X(69, srq_set_lw, DAT_INVALID_HANDLE_SRQ)
