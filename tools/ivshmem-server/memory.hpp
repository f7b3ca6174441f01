// SPDX-License-Identifier: GPL-2.0
// The memory that all peers share.
#pragma once

#include <cstdint>
#include <string>

#include "descriptor.hpp"

namespace ivshmem {

// A zeroed memfd with a sealed size.
Descriptor anonymous_memory(std::uint64_t size);

// POSIX shared memory, which outlives the server: zeroed if it is new, with the contents it had if
// it is not. Memory of another user, or of another size, is an error.
Descriptor named_memory(const std::string &name, std::uint64_t size);

} // namespace ivshmem
