// SPDX-License-Identifier: MIT
// Names of controllers: a type, and a unit in decimal digits.
#pragma once

#include <array>
#include <linux/rsm.h>
#include <string_view>

namespace rsm {

// NUL-terminated, padded with NULs.
using ControllerName = std::array<char, RSM_NAME_SIZE>;

constexpr std::string_view loopback_name = "loopback";

// The kernel's name for what the caller calls "Sci", "sci0" or "SCI00": "sci0".
// Any unit of loopback, and NULL, is "loopback". False if no controller can
// have such a name.
bool canonical_controller_name(const char *name, ControllerName &canonical) noexcept;

} // namespace rsm
