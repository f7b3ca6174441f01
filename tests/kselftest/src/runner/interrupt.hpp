// SPDX-License-Identifier: GPL-2.0
// SIGHUP, SIGINT and SIGTERM end the runner and the test that runs, with all of the test's processes.
// SIGKILL ends the runner and the test's first process only.
#pragma once

#include <functional>
#include <optional>
#include <sys/types.h>

namespace rsmrun {

// Blocks those of the three signals that are not ignored, in all threads from now on. If one comes,
// kills the session of the test that runs, and ends the runner by that signal. To be called before
// other threads exist.
void end_tests_at_interrupt();

// Undoes the blocking in a process that is about to execute another program.
void unblock_interrupts();

// Starts a test and tells its session. No interrupt comes in between, which would not know what to kill.
std::optional<pid_t> start_session(const std::function<std::optional<pid_t>()> &start);
// No test runs.
void end_session();

} // namespace rsmrun
