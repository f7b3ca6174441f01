// SPDX-License-Identifier: MIT
// Limits that dat_ia_query reports and the create functions enforce: the provider's, or the
// device's.
#pragma once

#include <dat/udat.h>

namespace rsmdat {

// Events are kept by the engine, whatever the transport.
constexpr DAT_COUNT EVENT_QUEUES = 65536;
constexpr DAT_COUNT EVENT_QUEUE_LENGTH = 1 << 22;

struct LimitSet {
    DAT_COUNT eps;
    DAT_COUNT dtos_per_ep; // each direction
    DAT_COUNT rdma_reads_per_ep;
    DAT_COUNT rdma_reads; // of all EPs
    DAT_COUNT evds;
    DAT_COUNT evd_length;
    DAT_COUNT iov;
    DAT_COUNT lmrs;
    DAT_VLEN lmr_length;
    DAT_COUNT pzs;
    DAT_VLEN message;
    DAT_VLEN rdma;
    DAT_COUNT rmrs; // 0: there are none
    DAT_COUNT srqs; // likewise
    DAT_COUNT recvs_per_srq;
    DAT_COUNT private_data;    // bytes
    bool srq_ep_pz_difference; // an EP's Protection Zone may be another one than its SRQ's
};

} // namespace rsmdat
