// SPDX-License-Identifier: MIT
// Memory of the program made ready for a region: registered with the device.
#pragma once

#include "engine/memory/wanted.h"
#include "memory/contexts.h"
#include "memory/pz.h"

namespace rsmdat {

// Can take long: Ia::lock not held, `pz` stays. DAT_SUCCESS or the error of dat_lmr_create; throws
// std::bad_alloc.
DAT_RETURN register_memory(const VerbsPz &pz, const Wanted &wanted,
                           std::shared_ptr<Pinned> &result);

} // namespace rsmdat
