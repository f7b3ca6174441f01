// SPDX-License-Identifier: GPL-2.0
// The processes of a test, as /proc shows them.
#pragma once

#include <string>
#include <sys/types.h>
#include <vector>

namespace rsmrun {

// Processes of a session that have not ended.
std::vector<pid_t> session_members(pid_t session);
// Kills all processes of a session, and again until no new one appears.
void kill_session(pid_t session);
// "PID (NAME)" for each.
std::string describe(const std::vector<pid_t> &processes);
// For each thread of a session's processes: its state, system call, the kernel function that it waits
// in, its kernel stack, and the program counter in user space.
std::vector<std::string> describe_waits(pid_t session);
// Makes each thread of the session's processes print its user-space stack, where the process is a test. Returns a line
// for each thread that does not.
std::vector<std::string> request_stacks(pid_t session);

} // namespace rsmrun
