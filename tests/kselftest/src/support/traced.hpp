// SPDX-License-Identifier: GPL-2.0
// Death at each moment that a process can see: before and after each of its system calls.
#pragma once

#include <functional>

namespace rsmtest {

// More stops than any body here makes: a body that makes more has no end.
inline constexpr int most_stops = 2000;

// Runs a body in a process of its own, again and again, and kills the process at its n-th stop, which is
// before or after a system call, for n = 1, 2, ... until the body ends by itself. After each end `after`
// gets n. Returns how often the process was killed. No clock decides: the same moments come each time.
int killed_at_each_call(const std::function<void()> &body, const std::function<void(int)> &after);

} // namespace rsmtest
