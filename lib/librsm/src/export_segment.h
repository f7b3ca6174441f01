// SPDX-License-Identifier: MIT
// A segment of the process's own memory.
#pragma once

#include "binding.h"
#include "segment.h"

namespace rsm {

// The kernel alone knows the state of the export: the state may change without a
// call, when the memory is unmapped, and differs between parent and child.
struct ExportSegment : Segment {
    static constexpr Kind kind = Kind::export_segment;

    ExportSegment(Binding binding, const EventTable *table) noexcept
        : Segment(std::move(binding.device), table, binding.slot), in_window(binding.in_window) {}

    const bool in_window;
};

} // namespace rsm
