// SPDX-License-Identifier: MIT
// Memory of other processes, by address.
#pragma once

#include <cstdint>

namespace rsmfake {

struct ProcessMemory {
    std::int32_t process;
    std::uint64_t address;
};

// False if a part of either end can't be accessed; what was copied before stays.
bool copy_between(ProcessMemory from, ProcessMemory to, std::uint64_t length);

} // namespace rsmfake
