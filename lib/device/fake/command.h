// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace rsmfake {

// ioctl() of a handle: 0, or -1 and errno. WAIT can be cancelled asynchronously.
int give_command(std::uint64_t handle, unsigned long command, void *argument);

} // namespace rsmfake
