// SPDX-License-Identifier: MIT
// A segment of the process's own memory.
#pragma once

#include "device/export.h"
#include "segment.h"

namespace rsm {

// The kernel alone knows the state of the export: the state may change without a
// call, when the memory is unmapped, and differs between parent and child.
struct ExportSegment : Segment {
    static constexpr Kind kind = Kind::export_segment;

    explicit ExportSegment(rsmdev::Export binding) noexcept
        : Segment(memory), memory(std::move(binding)) {}

    const rsmdev::Export memory;
};

} // namespace rsm
