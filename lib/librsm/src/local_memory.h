// SPDX-License-Identifier: MIT
// Local memory prepared for scatter-gather transfers.
#pragma once

#include <cstddef>

#include "device/export.h"
#include "handle_pool.h"

namespace rsm {

// A segment that is never published: the kernel checks and locks the memory. Where the memory is
// in the address space is not kept: the program may put something else there.
struct LocalMemory {
    static constexpr Kind kind = Kind::local_memory;

    rsmdev::Export pinned;
    std::size_t length;
};

} // namespace rsm
