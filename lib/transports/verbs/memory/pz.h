// SPDX-License-Identifier: MIT
// Protection zones.
#pragma once

#include "engine/core/ia.h"

struct ibv_pd;

namespace rsmdat {

class Pz final : public Object {
  public:
    static constexpr DAT_HANDLE_TYPE KIND = DAT_HANDLE_TYPE_PZ;
    explicit Pz(Ia &ia); // throws std::bad_alloc

    int users = 0; // EPs, LMRs, RMRs, SRQs
    // Registered memory may outlive the Pz by a moment: it is given back without Ia::lock.
    const std::shared_ptr<ibv_pd> domain;
};

} // namespace rsmdat
