// SPDX-License-Identifier: MIT
// Opening /dev/rsm. In a file of its own: a fuzzer brings its own instead.
#pragma once

#include "device/descriptor.h"

namespace rsmdev {

enum class HandleKind { control, segment };

// RSM_SUCCESS and a new handle, or an RSMERR status.
int open_device(HandleKind kind, const Policy &policy, Descriptor &result) noexcept;

} // namespace rsmdev
