// SPDX-License-Identifier: GPL-2.0
// A signal that ends the runner ends the test that runs, too, with all of its processes.
#pragma once

#include <sys/types.h>

namespace rsmrun {

// Blocks SIGHUP, SIGINT and SIGTERM in all threads from now on. If one comes, kills the session of
// the test that runs, and ends the runner by that signal. To be called before other threads exist.
void end_tests_at_interrupt();

// Undoes the blocking in a process that is about to execute another program.
void unblock_interrupts();

// The session of the test that runs, or 0 between two tests.
void set_session_at_interrupt(pid_t session);

} // namespace rsmrun
