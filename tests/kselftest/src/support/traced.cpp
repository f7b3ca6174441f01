// SPDX-License-Identifier: GPL-2.0
#include "support/traced.hpp"

#include "support/waiting.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <gtest/gtest.h>
#include <set>
#include <string>
#include <system_error>
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
    while (waitpid(process, &status, __WALL) < 0 && errno == EINTR)
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

// A list of threads; empty if the process has ended.
std::set<pid_t> threads_of(pid_t process)
{
    std::set<pid_t> threads;
    std::error_code error;
    for (const auto &entry :
         std::filesystem::directory_iterator("/proc/" + std::to_string(process) + "/task", error))
        threads.insert(std::stoi(entry.path().filename()));
    return threads;
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

KillAtStop::KillAtStop(pid_t process, int n, const std::function<void()> &start)
    : process_(process), tracer_([this, n, &start] { trace(n, start); })
{
    const Waiting waiting("the threads of another process to be traced");
    traced_.wait(false);
}

KillAtStop::~KillAtStop()
{
    end();
}

bool KillAtStop::end()
{
    const bool reached = reached_;
    if (!reached && !dead_)
        kill(process_, SIGKILL);
    if (tracer_.joinable())
        tracer_.join();
    return reached;
}

void KillAtStop::trace(int n, const std::function<void()> &start)
{
    const std::set<pid_t> threads = stop_threads();
    start();
    for (const pid_t thread : threads)
        ptrace(PTRACE_SYSCALL, thread, nullptr, nullptr);
    traced_ = true;
    traced_.notify_all();
    follow_threads(n);
    dead_ = true;
    dead_.notify_all();
}

// A thread that has stopped makes no other, so that the list has no new ones in the end.
std::set<pid_t> KillAtStop::stop_threads()
{
    constexpr long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL;
    std::set<pid_t> stopped;
    for (std::size_t before = 1; before != stopped.size();) {
        before = stopped.size();
        for (const pid_t thread : threads_of(process_)) {
            if (!stopped.insert(thread).second)
                continue;
            EXPECT_EQ(ptrace(PTRACE_SEIZE, thread, nullptr, options), 0);
            EXPECT_EQ(ptrace(PTRACE_INTERRUPT, thread, nullptr, nullptr), 0);
            wait_for(thread);
        }
    }
    EXPECT_FALSE(stopped.empty()) << "the process to be killed has ended";
    return stopped;
}

void KillAtStop::follow_threads(int n)
{
    int stop = 0, status = 0;
    // Only threads that this one traces; other children of this process are the business of others.
    for (;;) {
        const pid_t thread = waitpid(-1, &status, __WALL | __WNOTHREAD);
        if (thread < 0 && errno == EINTR)
            continue;
        if (thread < 0)
            return;
        if (!WIFSTOPPED(status))
            continue;
        if (WSTOPSIG(status) == call_stop && ++stop == n) {
            reached_ = true;
            kill(process_, SIGKILL);
            continue;
        }
        const bool is_signal = WSTOPSIG(status) != call_stop && status >> 16 == 0;
        ptrace(PTRACE_SYSCALL, thread, nullptr, is_signal ? WSTOPSIG(status) : 0);
    }
}

} // namespace rsmtest
