// SPDX-License-Identifier: MIT
// Translates privileges to access flags of a device.
#pragma once

#include "engine/core/types.h"

#include <infiniband/verbs.h>

namespace rsmengine {

// Local reads are always allowed. A right of peers to write includes the local right to write.
constexpr unsigned remote_access_of(unsigned privileges) noexcept {
    unsigned access = 0;
    if ((privileges & rights::REMOTE_READ) != 0)
        access |= IBV_ACCESS_REMOTE_READ;
    if ((privileges & rights::REMOTE_WRITE) != 0)
        access |= IBV_ACCESS_REMOTE_WRITE;
    return access;
}

// Access of an LMR.
constexpr unsigned access_of(unsigned privileges) noexcept {
    constexpr unsigned WRITES = rights::LOCAL_WRITE | rights::REMOTE_WRITE;
    const unsigned local = (privileges & WRITES) != 0 ? IBV_ACCESS_LOCAL_WRITE : 0;
    return local | remote_access_of(privileges);
}

} // namespace rsmengine
