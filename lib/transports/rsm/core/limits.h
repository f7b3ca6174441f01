// SPDX-License-Identifier: MIT
// Limits that dat_ia_query reports and the create functions enforce.
#pragma once

#include "engine/core/limit_set.h"

namespace rsmdat::limits {

constexpr DAT_COUNT EPS = 32768;
constexpr DAT_COUNT DTOS_PER_EP = 65536; // each direction
constexpr DAT_COUNT RDMA_READS_PER_EP = 128;
constexpr DAT_COUNT IOV = 64;
constexpr DAT_COUNT LMRS = 30000; // each takes two handles of /dev/rsm
constexpr DAT_VLEN LMR_LENGTH = 1ULL << 42;
constexpr DAT_COUNT PZS = 65536;
constexpr DAT_VLEN MESSAGE = 1ULL << 31;
constexpr DAT_VLEN RDMA = 1ULL << 40;
constexpr DAT_COUNT RMRS = 60000;
constexpr DAT_COUNT SRQS = 65536;
constexpr DAT_COUNT RECVS_PER_SRQ = 65536;
constexpr DAT_COUNT PRIVATE_DATA = 256; // bytes
// An EP's Protection Zone may be another one than its SRQ's: receives are checked against the
// SRQ's.
constexpr bool SRQ_EP_PZ_DIFFERENCE = true;

constexpr LimitSet ALL{
    .eps = EPS,
    .dtos_per_ep = DTOS_PER_EP,
    .rdma_reads_per_ep = RDMA_READS_PER_EP,
    .rdma_reads = EPS * RDMA_READS_PER_EP,
    .evds = EVENT_QUEUES,
    .evd_length = EVENT_QUEUE_LENGTH,
    .iov = IOV,
    .lmrs = LMRS,
    .lmr_length = LMR_LENGTH,
    .pzs = PZS,
    .message = MESSAGE,
    .rdma = RDMA,
    .rmrs = RMRS,
    .srqs = SRQS,
    .recvs_per_srq = RECVS_PER_SRQ,
    .private_data = PRIVATE_DATA,
    .srq_ep_pz_difference = SRQ_EP_PZ_DIFFERENCE,
};

} // namespace rsmdat::limits
