// SPDX-License-Identifier: MIT
// Memory of this process that it exports. To be mapped elsewhere it has to be of a file: each
// process has one, in which the page at address A has the offset A.
#pragma once

#include "device/fake/protocol.h"

#include <cstdint>

namespace rsmfake {

// RSM_SUCCESS if the mappings of this process let the range be exported, or an RSMERR value.
std::uint32_t check_range(AddressRange range, std::uint32_t bind_flags);
// Puts pages of the file, with the same contents, in the place of the range's private pages. Memory
// that other code may write to meanwhile, the heap and the stack, stays as it is with
// RSM_BIND_LOCAL: it is only copied then, and can't be mapped.
// False if a part of the range is not in the file afterwards.
bool share_range(AddressRange range, std::uint32_t bind_flags);
// Notes that the range is bound: the agent has to know when the process unmaps the range.
void note_bound(AddressRange range, std::uint32_t bind_flags);
bool is_bound(AddressRange range) noexcept;
enum class Contents { LOST, MOVED };
// Tells the agent that the process is about to unmap or replace the range. Frees the memory if its
// contents are LOST; with MOVED other addresses show them from then on.
void range_is_gone(AddressRange range, Contents contents) noexcept;
// Tells the agent that the process can't write to the range any more, unless all that is bound in it
// was bound with RSM_BIND_READ and can still be read. Frees no memory.
void range_is_unwritable(AddressRange range, int protection) noexcept;

// The handlers of fork(): before it, after it in the parent, and after it in the child, which
// copies the memory.
void prepare_fork() noexcept;
void end_fork_in_parent() noexcept;
void end_fork_in_child() noexcept;

} // namespace rsmfake
