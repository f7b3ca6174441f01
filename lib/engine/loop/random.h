// SPDX-License-Identifier: MIT
// Numbers that nobody can guess.
#pragma once

#include <cstddef>
#include <span>

namespace rsmdat {

// False if the kernel has none to give, which it has from early in the boot on.
bool fill_random(std::span<std::byte> bytes) noexcept;

} // namespace rsmdat
