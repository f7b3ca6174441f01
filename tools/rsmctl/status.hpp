// SPDX-License-Identifier: GPL-2.0
// Exit statuses of rsmctl.
#pragma once

namespace rsmctl {

constexpr int failed_status = 1;    // the kernel has refused, the doctor found a fault, or output failed
constexpr int usage_status = 2;     // the command line is wrong
constexpr int no_family_status = 3; // rsm.ko is not loaded

} // namespace rsmctl
