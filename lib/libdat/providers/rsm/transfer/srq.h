// SPDX-License-Identifier: MIT
// Shared receive queues.
#pragma once

#include "core/ia.h"
#include "memory/pz.h"

#include <vector>

namespace rsmdat {

class Srq final : public Object {
  public:
    static constexpr DAT_HANDLE_TYPE KIND = DAT_HANDLE_TYPE_SRQ;

    Srq(Ia &ia, Pz &pz, const DAT_SRQ_ATTR &attributes);
    ~Srq() override;

    Pz *pz;
    int eps = 0; // attached
    DAT_SRQ_ATTR attributes;
    // P5 decides: the queue; EPs with a message waiting for a buffer are poked on post
};

} // namespace rsmdat
