// SPDX-License-Identifier: GPL-2.0
// Death at each moment that a process can see: before and after each of its system calls.
#pragma once

#include <atomic>
#include <functional>
#include <set>
#include <sys/types.h>
#include <thread>

namespace rsmtest {

// More stops than any body here makes: a body that makes more has no end.
inline constexpr int most_stops = 2000;

// Runs a body in a process of its own, again and again, and kills the process at its n-th stop, which is
// before or after a system call, for n = 1, 2, ... until the body ends by itself. After each end `after`
// gets n. Returns how often the process was killed. No clock decides: the same moments come each time.
int killed_at_each_call(const std::function<void()> &body, const std::function<void(int)> &after);

// Kills another process at its n-th stop: each of its threads stops before and after each of its system calls.
class KillAtStop {
public:
    // Calls `start` while all threads of the process stand still, traced; the next stop is the first. So `start`
    // always meets a process that lives.
    KillAtStop(pid_t process, int n, const std::function<void()> &start);
    ~KillAtStop();
    KillAtStop(const KillAtStop &) = delete;
    KillAtStop &operator=(const KillAtStop &) = delete;

    // Returns when the process has ended.
    void await_death() const { dead_.wait(false); }
    // Kills the process now, if that has not come to its n-th stop. True: it had.
    bool end();

private:
    void trace(int n, const std::function<void()> &start);
    std::set<pid_t> stop_threads();
    void follow_threads(int n);

    pid_t process_;
    std::atomic<bool> traced_{false}, reached_{false}, dead_{false};
    std::thread tracer_;
};

} // namespace rsmtest
