// SPDX-License-Identifier: MIT
// Memory of this process that it exports. To be mapped elsewhere it has to be of a file: each
// process has one, in which the page at address A has the offset A.
#pragma once

#include "device/fake/protocol.h"

#include <cstdint>

namespace rsmfake {

// May the range be exported, as far as this process's mappings tell? An RSMERR value.
std::uint32_t check_range(AddressRange range, std::uint32_t bind_flags);
// Puts pages of the file, with the same contents, in the place of the range's private pages. Memory
// that other code may write to meanwhile, the heap and the stack, stays as it is with
// RSM_BIND_LOCAL: it is only copied then, and can't be mapped.
// False if a part of the range is not in the file afterwards.
bool share_range(AddressRange range, std::uint32_t bind_flags);
// The range is bound: the agent is told when it is unmapped.
void note_bound(AddressRange range, std::uint32_t bind_flags);
bool is_bound(AddressRange range) noexcept;
enum class Contents { LOST, MOVED };
// The range is about to go. Tells the agent, and frees the memory unless that shows elsewhere then.
void range_is_gone(AddressRange range, Contents contents) noexcept;
// The range can't be written any more: the same, but for what was bound with RSM_BIND_READ and can
// still be read.
void range_is_unwritable(AddressRange range, int protection) noexcept;

// For fork(): before it, after it in the parent, and in the child, which gets copies.
void prepare_fork() noexcept;
void end_fork_in_parent() noexcept;
void end_fork_in_child() noexcept;

} // namespace rsmfake
