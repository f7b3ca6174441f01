// SPDX-License-Identifier: MIT
// Protection zones.
#pragma once

#include "engine/core/ia.h"

namespace rsmdat {

class Pz final : public Object {
  public:
    static constexpr DAT_HANDLE_TYPE KIND = DAT_HANDLE_TYPE_PZ;
    explicit Pz(Ia &ia);
    int users = 0; // EPs, LMRs, RMRs, SRQs
};

} // namespace rsmdat
