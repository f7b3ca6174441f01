// SPDX-License-Identifier: MIT
// A segment of the process's own memory.
#pragma once

#include "segment.h"

namespace rsm {

// What state it is in is known to the kernel alone: it may change without a
// call, when the memory is unmapped, and differs between parent and child.
struct ExportSegment : Segment {
    static constexpr Kind kind = Kind::export_segment;
    using Segment::Segment;
};

} // namespace rsm
