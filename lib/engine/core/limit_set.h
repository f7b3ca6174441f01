// SPDX-License-Identifier: MIT
// Limits that a face reports and enforces when it makes objects: the engine's, or the device's.
#pragma once

#include "engine/core/types.h"

namespace rsmengine {

// Events are kept by the engine, whatever the transport.
constexpr Count EVENT_QUEUES = 65536;
constexpr Count EVENT_QUEUE_LENGTH = 1 << 22;

struct LimitSet {
    Count eps;
    Count dtos_per_ep; // each direction
    Count rdma_reads_per_ep;
    Count rdma_reads; // of all EPs
    Count evds;
    Count evd_length;
    Count iov;
    Count lmrs;
    std::uint64_t lmr_length;
    Count pzs;
    std::uint64_t message;
    std::uint64_t rdma;
    Count rmrs; // 0: there are none
    Count srqs; // likewise
    Count recvs_per_srq;
    Count private_data;        // bytes
    bool srq_ep_pz_difference; // an EP's Protection Zone may be another one than its SRQ's
};

} // namespace rsmengine
