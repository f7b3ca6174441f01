// SPDX-License-Identifier: MIT
// Limits that do not depend on the device; the rest is Device::limits().
#pragma once

#include "engine/core/limit_set.h"

namespace rsmdat::limits {

constexpr DAT_COUNT EVDS = 65536;
constexpr DAT_COUNT EVD_LENGTH = 1 << 22;
// The most that is used of a device's; some name no limit.
constexpr DAT_VLEN LMR_LENGTH = 1ULL << 42;
constexpr DAT_COUNT IOV = 32;

} // namespace rsmdat::limits
