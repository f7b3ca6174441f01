// SPDX-License-Identifier: MIT
// The process's control handle and its table of words.
#pragma once

#include "device/table.h"

namespace rsm {

// The table for new handles, made at the first call. It lives as long as the process: handles refer
// to the one they were made with. RSM_SUCCESS or an error.
int event_table(rsmdev::Table *&table) noexcept;

// Called in the child after fork(), with all locks held: new handles get a table of the child's
// own; the kernel consumes the events of inherited handles.
void abandon_event_table() noexcept;

} // namespace rsm
