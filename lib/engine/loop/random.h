// SPDX-License-Identifier: MIT
// Random numbers of the kernel, which peers cannot guess.
#pragma once

#include <cstddef>
#include <span>

namespace rsmengine {

// False if the kernel's generator is not ready, which happens only early in the boot.
bool fill_random(std::span<std::byte> bytes) noexcept;

} // namespace rsmengine
