// SPDX-License-Identifier: MIT
// Memory of the program made ready for a region: registered with the device.
#pragma once

#include "engine/memory/wanted.h"
#include "memory/contexts.h"
#include "memory/pz.h"

namespace rsmdat {

// Are others' keys, to the same memory, good for it? Each region has keys of its own: they say
// which protection zone, which bytes and which rights.
constexpr bool serves(const Pinned & /*others*/, const Wanted & /*wanted*/) noexcept {
    return false;
}

// Can take long: Ia::lock not held, `pz` stays. DAT_SUCCESS or the error of dat_lmr_create; throws
// std::bad_alloc.
DAT_RETURN get_memory(const Pz &pz, const Wanted &wanted, std::shared_ptr<Pinned> &result);

} // namespace rsmdat
