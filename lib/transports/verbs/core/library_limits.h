// SPDX-License-Identifier: MIT
// Limits that do not depend on the device; the rest is RdmaDevice::limits().
#pragma once

#include "engine/core/limit_set.h"
#include "engine/core/types.h"

namespace rsmengine::limits {

// The most that is used of a device's; some name no limit.
constexpr std::uint64_t LMR_LENGTH = 1ULL << 42;
constexpr Count IOV = 32;

} // namespace rsmengine::limits
