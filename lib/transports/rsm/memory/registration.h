// SPDX-License-Identifier: MIT
// Memory of the program made ready for a region: pinned by the kernel.
#pragma once

#include "engine/memory/wanted.h"
#include "memory/pin.h"
#include "memory/pz.h"

namespace rsmdat {

// Are others' pages, which are the same, good for it?
inline bool serves(const Pinned &others, const Wanted &wanted) noexcept {
    return others.writable || (wanted.privileges & DAT_MEM_PRIV_WRITE_FLAG) == 0;
}

// Can take long: Ia::lock not held, `pz` stays. DAT_SUCCESS or the error of dat_lmr_create; throws
// std::bad_alloc.
inline DAT_RETURN get_memory(const Pz &pz, const Wanted &wanted, std::shared_ptr<Pinned> &result) {
    const bool writable = (wanted.privileges & DAT_MEM_PRIV_WRITE_FLAG) != 0;
    return pin(*pz.ia().device, wanted.pages, writable, result);
}

} // namespace rsmdat
