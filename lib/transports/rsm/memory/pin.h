// SPDX-License-Identifier: MIT
// Memory of the program in the hands of the kernel.
#pragma once

#include "engine/memory/pages.h"
#include "memory/contexts.h"

namespace rsmdat {

// Pins pages, for peers to write if `writable`, else to read at most. Can take long: Ia::lock not
// held. DAT_SUCCESS or the error of dat_lmr_create; throws std::bad_alloc.
DAT_RETURN pin(const Device &device, const PageRange &pages, bool writable,
               std::shared_ptr<Pinned> &result);

} // namespace rsmdat
