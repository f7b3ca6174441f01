// SPDX-License-Identifier: MIT
// Copies to and from a connection's segment by the kernel, which knows the bounds to the byte.
#pragma once

#include "memory/contexts.h"
#include "memory/copy.h"

namespace rsmengine {

struct KernelCopy {
    const Import &import;
    bool write;
    bool ends_request; // the last bytes are the last ones of all: stored last
};

// Moves the cursor on by `length`, which the pieces have.
RemoteRegion::Outcome copy_by_kernel(const KernelCopy &how, std::uint64_t offset,
                                     PieceCursor &cursor, std::uint64_t length) noexcept;

} // namespace rsmengine
