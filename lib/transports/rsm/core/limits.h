// SPDX-License-Identifier: MIT
// Limits that a face reports and enforces when it makes objects.
#pragma once

#include "engine/core/limit_set.h"
#include "engine/core/types.h"

namespace rsmengine::limits {

constexpr Count EPS = 32768;
constexpr Count DTOS_PER_EP = 65536; // each direction
constexpr Count RDMA_READS_PER_EP = 128;
constexpr Count IOV = 64;
constexpr Count LMRS = 30000; // each takes two handles of /dev/rsm
constexpr std::uint64_t LMR_LENGTH = 1ULL << 42;
constexpr Count PZS = 65536;
constexpr std::uint64_t MESSAGE = 1ULL << 31;
constexpr std::uint64_t RDMA = 1ULL << 40;
constexpr Count RMRS = 60000;
constexpr Count SRQS = 65536;
constexpr Count RECVS_PER_SRQ = 65536;
constexpr Count PRIVATE_DATA = 256; // bytes
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

} // namespace rsmengine::limits
