// SPDX-License-Identifier: MIT
// Data and barriers of connections that CPUs can't reach: the kernel agent moves
// the data.
#pragma once

#include <cstdint>
#include <span>

#include "import_segment.h"

namespace rsm {

// The flag with which a put of this segment leaves its completion to a barrier of the
// program's, in explicit mode, or none.
std::uint32_t asynchronous_if_explicit(const ImportSegment &segment, Direction direction) noexcept;

// One range, for put and get.
int transfer_by_kernel(const ImportSegment &segment, Direction direction, const Transfer &transfer,
                       const void *local) noexcept;

// A whole scatter-gather request, its entries in kernel form; they change. The request says what
// more there is to do, and how many entries were not completed.
int transfer_by_kernel(const ImportSegment &segment, Direction direction,
                       std::span<rsm_transfer_entry> entries, rsm_transfer &request) noexcept;

int barrier_by_kernel(const ImportSegment &segment, rsm_barrier_op operation) noexcept;

} // namespace rsm
