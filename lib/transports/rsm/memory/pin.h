// SPDX-License-Identifier: MIT
// Memory of the program in the hands of the kernel.
#pragma once

#include "engine/core/status.h"
#include "engine/memory/pages.h"
#include "memory/contexts.h"

namespace rsmengine {

// Pins pages, for peers to write if `writable`, else to read at most. Can take long: Ia::lock not
// held. OK or what Transport::get_memory may say; throws std::bad_alloc.
Status pin(const Device &device, const PageRange &pages, bool writable,
           std::shared_ptr<Pinned> &result);

} // namespace rsmengine
