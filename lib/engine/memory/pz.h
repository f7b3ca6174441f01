// SPDX-License-Identifier: MIT
// Protection zones. A transport that has something to keep for one derives from the class.
#pragma once

#include "engine/core/ia.h"
#include "engine/core/types.h"

namespace rsmengine {

class Pz : public Object {
  public:
    static constexpr ObjectKind KIND = ObjectKind::PZ;
    explicit Pz(Ia &ia) : Object(KIND, ia) {} // throws std::bad_alloc

    int users = 0; // EPs, LMRs, RMRs, SRQs
};

} // namespace rsmengine
