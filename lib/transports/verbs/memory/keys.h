// SPDX-License-Identifier: MIT
// Registers memory of the program with the device, for a region.
#pragma once

#include "engine/core/status.h"
#include "engine/memory/wanted.h"
#include "memory/contexts.h"
#include "memory/pz.h"

namespace rsmengine {

// Can take long: Ia::lock not held, `pz` stays. OK or what Transport::get_memory may say; throws
// std::bad_alloc.
Status register_memory(const VerbsPz &pz, const Wanted &wanted, std::shared_ptr<Pinned> &result);

} // namespace rsmengine
