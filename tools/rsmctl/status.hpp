// SPDX-License-Identifier: GPL-2.0
// What rsmctl exits with.
#pragma once

namespace rsmctl {

constexpr int failed_status = 1;    // the kernel has refused, or output could not be written
constexpr int usage_status = 2;     // the command line makes no sense
constexpr int no_family_status = 3; // rsm.ko is not loaded

} // namespace rsmctl
