// SPDX-License-Identifier: GPL-2.0
// Fault injection: the nth thing that can fail in a system call does.
#pragma once

#include "support/system.hpp"

#include <functional>

namespace rsmtest {

// Arms the injectors of the debug kernel; puts them back at the end.
class FaultInjection {
public:
    FaultInjection();
    ~FaultInjection();
    FaultInjection(const FaultInjection &) = delete;
    FaultInjection &operator=(const FaultInjection &) = delete;

    // False on kernels without /proc/self/fail-nth.
    bool available() const { return file_.valid(); }

    // Runs the action with the nth chance to fail failing. True if one did. Where the injectors can't be
    // armed, the test has failed and the action has not run.
    bool nth(int n, const std::function<void()> &action);

    // Says how many faults a sweep has injected. All sweeps reach at least the copy of the argument.
    static void tell(int injected);

private:
    Fd file_;
};

} // namespace rsmtest
