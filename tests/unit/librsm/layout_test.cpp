// SPDX-License-Identifier: MIT
// Sizes and offsets (T2), and values of constants (T3), as on Solaris.
#include <cstddef>
#include <gtest/gtest.h>
#include <sys/rsm/rsmndi.h>
#include <type_traits>

#include "api.h"

namespace {

#define EXPECT_VALUE(name, value) static_assert((name) == (value), #name)

// ---- T2 ----

static_assert(std::is_same_v<rsm_addr_t, uint64_t>);
static_assert(std::is_same_v<rsm_node_id_t, uint32_t>);
static_assert(std::is_same_v<rsm_memseg_id_t, uint32_t>);
static_assert(std::is_same_v<rsm_permission_t, uint32_t>);
static_assert(sizeof(offset_t) == 8 && std::is_signed_v<offset_t>);

#ifdef __LP64__
static_assert(sizeof(rsmapi_controller_attr_t) == 64);
static_assert(offsetof(rsmapi_controller_attr_t, attr_direct_access_sizes) == 0);
static_assert(offsetof(rsmapi_controller_attr_t, attr_atomic_sizes) == 4);
static_assert(offsetof(rsmapi_controller_attr_t, attr_page_size) == 8);
static_assert(offsetof(rsmapi_controller_attr_t, attr_max_export_segment_size) == 16);
static_assert(offsetof(rsmapi_controller_attr_t, attr_tot_export_segment_size) == 24);
static_assert(offsetof(rsmapi_controller_attr_t, attr_max_export_segments) == 32);
static_assert(offsetof(rsmapi_controller_attr_t, attr_max_import_map_size) == 40);
static_assert(offsetof(rsmapi_controller_attr_t, attr_tot_import_map_size) == 48);
static_assert(offsetof(rsmapi_controller_attr_t, attr_max_import_segments) == 56);

static_assert(sizeof(rsmapi_access_entry_t) == 8);
static_assert(offsetof(rsmapi_access_entry_t, ae_node) == 0);
static_assert(offsetof(rsmapi_access_entry_t, ae_permission) == 4);

static_assert(sizeof(rsmapi_barrier_t) == 24);
static_assert(offsetof(rsmapi_barrier_t, seg) == 0);
static_assert(offsetof(rsmapi_barrier_t, gnum) == 8);
static_assert(offsetof(rsmapi_barrier_t, privdata) == 16);
static_assert(sizeof(rsm_barrier_component_t) == 8);
static_assert(sizeof(rsm_barrier_t) == 32);

static_assert(sizeof(rsm_iovec_t) == 40);
static_assert(offsetof(rsm_iovec_t, io_type) == 0);
static_assert(offsetof(rsm_iovec_t, local) == 8);
static_assert(offsetof(rsm_iovec_t, local_offset) == 16);
static_assert(offsetof(rsm_iovec_t, remote_offset) == 24);
static_assert(offsetof(rsm_iovec_t, transfer_length) == 32);

static_assert(sizeof(rsm_scat_gath_t) == 48);
static_assert(offsetof(rsm_scat_gath_t, local_nodeid) == 0);
static_assert(offsetof(rsm_scat_gath_t, io_request_count) == 8);
static_assert(offsetof(rsm_scat_gath_t, io_residual_count) == 16);
static_assert(offsetof(rsm_scat_gath_t, flags) == 24);
static_assert(offsetof(rsm_scat_gath_t, remote_handle) == 32);
static_assert(offsetof(rsm_scat_gath_t, iovec) == 40);

static_assert(sizeof(rsm_topology_hdr_t) == 8);
static_assert(sizeof(rsm_connections_hdr_t) == 272);
static_assert(offsetof(rsm_connections_hdr_t, local_hwaddr) == 256);
static_assert(offsetof(rsm_connections_hdr_t, remote_cntlr_count) == 264);
static_assert(sizeof(rsm_remote_cntlr_t) == 280);
static_assert(offsetof(rsm_remote_cntlr_t, remote_cntlrname) == 4);
static_assert(offsetof(rsm_remote_cntlr_t, remote_hwaddr) == 264);
static_assert(offsetof(rsm_remote_cntlr_t, connection_state) == 272);
static_assert(offsetof(rsm_connections_t, remote_cntlr) == 272);
static_assert(offsetof(rsm_topology_t, connections) == 8);
#endif

// ---- T3 ----

EXPECT_VALUE(RSM_VERSION, 5);
EXPECT_VALUE(RSM_MAX_SGIOREQS, 16);
EXPECT_VALUE(RSM_CONNECTION_ACTIVE, 3);
EXPECT_VALUE(MAXNAMELEN, 256);
EXPECT_VALUE(POLLRDNORM, 0x40);

EXPECT_VALUE(RSM_DAS8, 1);
EXPECT_VALUE(RSM_DAS16, 2);
EXPECT_VALUE(RSM_DAS32, 4);
EXPECT_VALUE(RSM_DAS64, 8);
EXPECT_VALUE(RSM_BARRIER_SEGMENT, 0x01);
EXPECT_VALUE(RSM_BARRIER_NODE, 0x02);
EXPECT_VALUE(RSM_BARRIER_SEGMENT_THREAD, 0x11);
EXPECT_VALUE(RSM_BARRIER_NODE_THREAD, 0x12);
EXPECT_VALUE(RSM_BAR_DEFAULT, 0x01);
EXPECT_VALUE(RSM_BARRIER_MODE_EXPLICIT, 0);
EXPECT_VALUE(RSM_BARRIER_MODE_IMPLICIT, 1);
EXPECT_VALUE(RSM_MAP_NONE, 0);
EXPECT_VALUE(RSM_MAP_FIXED, 1);
EXPECT_VALUE(RSM_MAP_RESERVED, 2);

EXPECT_VALUE(RSM_SUCCESS, 0);
EXPECT_VALUE(RSMERR_BAD_LIBRARY_VERSION, 1);
EXPECT_VALUE(RSMERR_BAD_TOPOLOGY_PTR, 2);
EXPECT_VALUE(RSMERR_BAD_CTLR_HNDL, 3);
EXPECT_VALUE(RSMERR_CTLR_NOT_PRESENT, 4);
EXPECT_VALUE(RSMERR_BAD_SEG_HNDL, 5);
EXPECT_VALUE(RSMERR_SEG_ALREADY_PUBLISHED, 6);
EXPECT_VALUE(RSMERR_SEG_NOT_PUBLISHED, 7);
EXPECT_VALUE(RSMERR_SEG_NOT_PUBLISHED_TO_NODE, 8);
EXPECT_VALUE(RSMERR_SEG_ALREADY_MAPPED, 9);
EXPECT_VALUE(RSMERR_SEG_STILL_MAPPED, 10);
EXPECT_VALUE(RSMERR_SEG_NOT_MAPPED, 11);
EXPECT_VALUE(RSMERR_NOT_CREATOR, 12);
EXPECT_VALUE(RSMERR_BAD_BARRIER_PTR, 13);
EXPECT_VALUE(RSMERR_BAD_SGIO, 14);
EXPECT_VALUE(RSMERR_BAD_LOCALMEM_HNDL, 15);
EXPECT_VALUE(RSMERR_BAD_ADDR, 16);
EXPECT_VALUE(RSMERR_BAD_MEM_ALIGNMENT, 17);
EXPECT_VALUE(RSMERR_BAD_OFFSET, 18);
EXPECT_VALUE(RSMERR_MISALIGNED_OFFSET, 19);
EXPECT_VALUE(RSMERR_BAD_LENGTH, 20);
EXPECT_VALUE(RSMERR_BAD_ACL, 21);
EXPECT_VALUE(RSMERR_BAD_SEGID, 22);
EXPECT_VALUE(RSMERR_RESERVED_SEGID, 23);
EXPECT_VALUE(RSMERR_SEGID_IN_USE, 24);
EXPECT_VALUE(RSMERR_BAD_MODE, 25);
EXPECT_VALUE(RSMERR_BAD_PERMS, 26);
EXPECT_VALUE(RSMERR_PERM_DENIED, 27);
EXPECT_VALUE(RSMERR_LOCKS_NOT_SUPPORTED, 28);
EXPECT_VALUE(RSMERR_LOCKS_NOT_ENABLED, 29);
EXPECT_VALUE(RSMERR_REBIND_NOT_ALLOWED, 30);
EXPECT_VALUE(RSMERR_INSUFFICIENT_RESOURCES, 31);
EXPECT_VALUE(RSMERR_INSUFFICIENT_MEM, 32);
EXPECT_VALUE(RSMERR_MAP_FAILED, 33);
EXPECT_VALUE(RSMERR_POLLFD_IN_USE, 34);
EXPECT_VALUE(RSMERR_BARRIER_UNINITIALIZED, 35);
EXPECT_VALUE(RSMERR_BARRIER_OPEN_FAILED, 36);
EXPECT_VALUE(RSMERR_BARRIER_NOT_OPENED, 37);
EXPECT_VALUE(RSMERR_BARRIER_FAILURE, 38);
EXPECT_VALUE(RSMERR_REMOTE_NODE_UNREACHABLE, 39);
EXPECT_VALUE(RSMERR_CONN_ABORTED, 40);
EXPECT_VALUE(RSMERR_INTERRUPTED, 41);
EXPECT_VALUE(RSMERR_TIMEOUT, 42);
EXPECT_VALUE(RSMERR_BAD_APPID, 43);
EXPECT_VALUE(RSMERR_BAD_CONF, 44);
EXPECT_VALUE(RSMERR_SEG_NOT_CONNECTED, 45);
EXPECT_VALUE(RSMERR_INTERNAL_ERROR, 100);
EXPECT_VALUE(RSMERR_BAD_DRIVER_VERSION, 101);
EXPECT_VALUE(RSMERR_UNSUPPORTED_VERSION, 102);
EXPECT_VALUE(RSMERR_DRIVER_NAME_IN_USE, 103);
EXPECT_VALUE(RSMERR_DRIVER_NOT_REGISTERED, 104);
EXPECT_VALUE(RSMERR_DRIVER_THREAD_RUNNING, 105);
EXPECT_VALUE(RSMERR_NEED_THREAD_INIT, 106);
EXPECT_VALUE(RSMERR_THREAD_NOT_INITED, 107);
EXPECT_VALUE(RSMERR_CTLRS_REGISTERED, 108);
EXPECT_VALUE(RSMERR_CTLR_NOT_REGISTERED, 109);
EXPECT_VALUE(RSMERR_CTLR_ALREADY_REGISTERED, 110);
EXPECT_VALUE(RSMERR_CTLR_IN_USE, 111);
EXPECT_VALUE(RSMERR_NAME_TOO_LONG, 112);
EXPECT_VALUE(RSMERR_SEG_PUBLISHED, 113);
EXPECT_VALUE(RSMERR_SEG_NOT_PUBLISHED_TO_RSM_ADDR, 114);
EXPECT_VALUE(RSMERR_SEG_IN_USE, 115);
EXPECT_VALUE(RSMERR_BAD_SENDQ_HNDL, 116);
EXPECT_VALUE(RSMERR_BAD_ARGS_ERRORS, 117);
EXPECT_VALUE(RSMERR_BAD_MSTYPE, 118);
EXPECT_VALUE(RSMERR_NO_BACKING_MEM, 119);
EXPECT_VALUE(RSMERR_NOT_MEM, 120);
EXPECT_VALUE(RSMERR_MEM_ALREADY_BOUND, 121);
EXPECT_VALUE(RSMERR_MEM_NOT_BOUND, 122);
EXPECT_VALUE(RSMERR_HANDLER_NOT_REGISTERED, 123);
EXPECT_VALUE(RSMERR_NO_HANDLER, 124);
EXPECT_VALUE(RSMERR_UNBIND_REBIND_NOT_ALLOWED, 125);
EXPECT_VALUE(RSMERR_CALLBACKS_NOT_SUPPORTED, 126);
EXPECT_VALUE(RSMERR_UNSUPPORTED_OPERATION, 127);
EXPECT_VALUE(RSMERR_RSM_ADDR_UNREACHABLE, 128);
EXPECT_VALUE(RSMERR_UNKNOWN_RSM_ADDR, 129);
EXPECT_VALUE(RSMERR_BAD_BARRIER_HNDL, 130);
EXPECT_VALUE(RSMERR_COMM_ERR_MAYBE_DELIVERED, 131);
EXPECT_VALUE(RSMERR_COMM_ERR_NOT_DELIVERED, 132);
EXPECT_VALUE(RSMERR_QUEUE_FENCE_UP, 133);
EXPECT_VALUE(RSMERR_QUEUE_FULL, 134);

EXPECT_VALUE(RSM_DRIVER_PRIVATE_ID_BASE, 0);
EXPECT_VALUE(RSM_DRIVER_PRIVATE_ID_END, 0x0FFFFF);
EXPECT_VALUE(RSM_CLUSTER_TRANSPORT_ID_BASE, 0x100000);
EXPECT_VALUE(RSM_CLUSTER_TRANSPORT_ID_END, 0x1FFFFF);
EXPECT_VALUE(RSM_RSMLIB_ID_BASE, 0x200000);
EXPECT_VALUE(RSM_RSMLIB_ID_END, 0x2FFFFF);
EXPECT_VALUE(RSM_DLPI_ID_BASE, 0x300000);
EXPECT_VALUE(RSM_DLPI_ID_END, 0x3FFFFF);
EXPECT_VALUE(RSM_HPC_ID_BASE, 0x400000);
EXPECT_VALUE(RSM_HPC_ID_END, 0x4FFFFF);
EXPECT_VALUE(RSM_OPS_ID_BASE, 0x500000);
EXPECT_VALUE(RSM_OPS_ID_END, 0x5FFFFF);
EXPECT_VALUE(RSM_USER_APP_ID_BASE, 0x80000000U);
EXPECT_VALUE(RSM_USER_APP_ID_END, 0xFFFFFFFFU);

EXPECT_VALUE(RSM_PERM_NONE, 0);
EXPECT_VALUE(RSM_PERM_READ, 0400);
EXPECT_VALUE(RSM_PERM_WRITE, 0200);
EXPECT_VALUE(RSM_PERM_RDWR, 0600);

EXPECT_VALUE(RSM_ALLOW_REBIND, 0x01);
EXPECT_VALUE(RSM_CREATE_SEG_DONTWAIT, 0x02);
EXPECT_VALUE(RSM_IMPLICIT_SIGPOST, 0x01);
EXPECT_VALUE(RSM_SIGPOST_NO_ACCUMULATE, 0x02);
EXPECT_VALUE(RSM_HANDLE_TYPE, 0x01);
EXPECT_VALUE(RSM_VA_TYPE, 0x02);
EXPECT_VALUE(RSM_LIB_VERSION, 1);
EXPECT_VALUE(RSM_LIB_FUNCS_VERSION, 1);

// The compiler has done all the work; the test is there to be counted.
TEST(Layout, IsThatOfSolaris) {}

} // namespace
