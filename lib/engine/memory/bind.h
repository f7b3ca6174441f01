// SPDX-License-Identifier: MIT
// Checks of the bind of an RMR.
#pragma once

#include "engine/core/status.h"
#include "engine/core/types.h"
#include "engine/memory/lmr.h"

namespace rsmengine {

// OK or the error of the bind. `lmr`: what it is bound to; null if it is unbound.
Status check_bind(const Ia &ia, const Pz *rmr_pz, const Pz *ep_pz, const Segment &asked,
                  unsigned allowed, Lmr *&lmr) noexcept;

// The rights that peers are to get.
constexpr unsigned remote_part(unsigned privileges) noexcept {
    return privileges & (rights::REMOTE_READ | rights::REMOTE_WRITE);
}

} // namespace rsmengine
