// SPDX-License-Identifier: MIT
// Checks of the bind of an RMR.
#pragma once

#include "engine/memory/lmr.h"

namespace rsmdat {

// DAT_SUCCESS or the error of dat_rmr_bind, argument positions included. `lmr`: what it is bound
// to; null if it is unbound.
DAT_RETURN check_bind(const Ia &ia, const Pz *rmr_pz, const Pz *ep_pz, const DAT_LMR_TRIPLET &asked,
                      unsigned allowed, Lmr *&lmr) noexcept;

// The rights that peers are to get.
constexpr unsigned remote_part(unsigned privileges) noexcept {
    return privileges & (DAT_MEM_PRIV_REMOTE_READ_FLAG | DAT_MEM_PRIV_REMOTE_WRITE_FLAG);
}

} // namespace rsmdat
