// SPDX-License-Identifier: MIT
// The exporter's memory while its segment lives in a window of the interconnect:
// the handle is mapped over it, so that the program's pointers stay good.
#pragma once

#include <cstddef>

#include "device/export.h"

namespace rsm {

// Maps the handle over the range that was bound to it. RSM_SUCCESS or an error, after which the
// range still has its contents.
int show_segment(const rsmdev::Export &segment, void *range, std::size_t length) noexcept;

// To be called before the export ends: breaks all connections, and puts ordinary
// memory with the contents in the place of the view. Without memory, or if the process is not
// the creator, the kernel keeps the contents in the view. Does not touch mappings that the
// program itself has made there.
void bring_contents_home(const rsmdev::Export &segment) noexcept;

// RSM_IOC_REBIND, and ordinary memory with its contents for the old range. On
// failure everything is as it was.
int rebind_in_window(const rsmdev::Export &segment, void *range, std::size_t length);

} // namespace rsm
