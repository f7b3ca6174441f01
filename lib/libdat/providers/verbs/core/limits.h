// SPDX-License-Identifier: MIT
// What does not depend on the device; the rest is Device::limits().
#pragma once

#include "core/limit_set.h"

namespace rsmdat::limits {

constexpr DAT_COUNT EVDS = 65536;
constexpr DAT_COUNT EVD_LENGTH = 1 << 22;
constexpr DAT_COUNT IOV = 32; // no device's is used beyond that

} // namespace rsmdat::limits
