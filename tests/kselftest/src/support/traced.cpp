// SPDX-License-Identifier: GPL-2.0
#include "support/traced.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <gtest/gtest.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

namespace rsmtest {
namespace {

// The signal of a stop at a system call under PTRACE_O_TRACESYSGOOD.
constexpr int call_stop = SIGTRAP | 0x80;

int wait_for(pid_t process)
{
    int status = 0;
    while (waitpid(process, &status, 0) < 0 && errno == EINTR)
        ;
    return status;
}

pid_t start_traced(const std::function<void()> &body)
{
    std::fflush(nullptr);
    const pid_t process = fork();
    if (process != 0)
        return process;
    ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    raise(SIGSTOP);
    body();
    _exit(testing::Test::HasFailure() ? 1 : 0);
}

// Goes on to the next stop at a system call; signals are passed on. False: the process has ended, by `status`.
bool next_stop(pid_t process, int &status)
{
    int signal = 0;
    for (;;) {
        if (ptrace(PTRACE_SYSCALL, process, nullptr, signal) != 0)
            return false;
        status = wait_for(process);
        if (!WIFSTOPPED(status))
            return false;
        if (WSTOPSIG(status) == call_stop)
            return true;
        signal = WSTOPSIG(status);
    }
}

// True if the process was killed at its n-th stop; false if it ended before, as it should.
bool killed_at(int n, const std::function<void()> &body)
{
    const pid_t process = start_traced(body);
    int status = wait_for(process);
    EXPECT_TRUE(WIFSTOPPED(status));
    ptrace(PTRACE_SETOPTIONS, process, nullptr, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
    for (int stop = 1; next_stop(process, status); stop++) {
        if (stop < n)
            continue;
        kill(process, SIGKILL);
        status = wait_for(process);
        // The last call is the one that ends it.
        return WIFSIGNALED(status);
    }
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "a body that nobody kills fails: " << status;
    return false;
}

} // namespace

int killed_at_each_call(const std::function<void()> &body, const std::function<void(int)> &after)
{
    for (int n = 1; n <= most_stops; n++) {
        const bool killed = killed_at(n, body);
        after(n);
        if (!killed || testing::Test::HasFailure())
            return n - 1;
    }
    ADD_FAILURE() << "the body does not end after " << most_stops << " stops";
    return most_stops;
}

} // namespace rsmtest
