// SPDX-License-Identifier: GPL-2.0
// The memory that all peers share.
#pragma once

#include <cstdint>
#include <string>

#include "descriptor.hpp"

namespace ivshmem {

// A memfd, zeroed, that nobody can make larger or smaller.
Descriptor anonymous_memory(std::uint64_t size);

// POSIX shared memory, which outlives the server: zeroed if it is new, with the contents it had if
// it is not. Memory of somebody else's, or of another size, is an error.
Descriptor named_memory(const std::string &name, std::uint64_t size);

} // namespace ivshmem
