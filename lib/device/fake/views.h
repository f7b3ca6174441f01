// SPDX-License-Identifier: MIT
// Mappings of handles in this process.
#pragma once

#include "device/fake/protocol.h"

#include <cstdint>
#include <sys/types.h>

namespace rsmfake {

// mmap() of a handle: as that, with errno.
void *map_handle(std::uint64_t handle, int descriptor, void *address, std::size_t length,
                 int protection, int flags, off_t offset) noexcept;
// Unmaps what a range has of an import.
void unmap_views(std::uint32_t number, AddressRange range) noexcept;
// Something else is in the range now.
void forget_views(AddressRange range) noexcept;
// Makes the changes that the agent has for this process, if the reply says so.
void make_changes(const Reply &reply) noexcept;

void prepare_fork_of_views() noexcept;
void end_fork_of_views() noexcept;
void end_fork_of_views_in_child() noexcept;

} // namespace rsmfake
