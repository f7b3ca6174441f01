// SPDX-License-Identifier: GPL-2.0
// Which signals end a wait: those whose handlers run.
#include "support/loopback.hpp"
#include "support/raw.hpp"

#include <cerrno>
#include <csignal>
#include <fstream>
#include <pthread.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace rsmtest;

namespace {

// Returns when a thread sleeps in an ioctl.
void until_it_waits(pid_t thread)
{
    const std::string path = "/proc/" + std::to_string(thread) + "/syscall";
    std::string number;
    while (number != std::to_string(SYS_ioctl)) {
        std::ifstream(path) >> number;
        usleep(1000);
    }
}

// A child that waits for an event of its connection, with a limit or without.
class Stopped : public PublishedTest, public testing::WithParamInterface<int> {
protected:
    void SetUp() override
    {
        PublishedTest::SetUp();
        waiter.receive();
        until_it_waits(waiter.pid());
    }
    void expect_that_it_still_waits()
    {
        EXPECT_EQ(rsm_intr_signal_post(static_cast<rsm_memseg_export_handle_t>(seg), 0),
                  RSM_SUCCESS);
        waiter.expect_success();
    }
    Child waiter{[this](Link &link) {
        Controller own;
        ImportSegment h(own, seg.id());
        link.send();
        EXPECT_EQ(rsm_intr_signal_wait(static_cast<rsm_memseg_import_handle_t>(h), GetParam()),
                  RSM_SUCCESS);
    }};
};

INSTANTIATE_TEST_SUITE_P(, Stopped, testing::Values(-1, 3'600'000));

} // namespace

TEST_P(Stopped, a_stop_does_not_end_a_wait)
{
    waiter.stop();
    ASSERT_EQ(kill(waiter.pid(), SIGCONT), 0);
    expect_that_it_still_waits();
}

TEST_P(Stopped, a_debugger_does_not_end_a_wait)
{
    ASSERT_EQ(ptrace(PTRACE_SEIZE, waiter.pid(), nullptr, nullptr), 0);
    ASSERT_EQ(ptrace(PTRACE_INTERRUPT, waiter.pid(), nullptr, nullptr), 0);
    ASSERT_EQ(waitpid(waiter.pid(), nullptr, 0), waiter.pid());
    ASSERT_EQ(ptrace(PTRACE_DETACH, waiter.pid(), nullptr, nullptr), 0);
    expect_that_it_still_waits();
}

// The kernel's own answer to a handler, with what is left of the time.
TEST_F(PublishedTest, a_handler_ends_a_wait)
{
    struct sigaction action {};
    action.sa_handler = [](int) {};
    action.sa_flags = SA_RESTART;
    ASSERT_EQ(sigaction(SIGUSR1, &action, nullptr), 0);
    const Fd handle = raw::open_segment();
    ASSERT_EQ(raw::connect(handle.get(), seg.id()), raw::success);
    constexpr std::int64_t hour = 3'600'000'000'000;
    rsm_wait argument{sizeof(rsm_wait), 0, hour};
    std::atomic<pid_t> thread = 0;
    std::thread waiter([&] {
        thread = gettid();
        EXPECT_EQ(ioctl(handle.get(), RSM_IOC_WAIT, &argument), -1);
        EXPECT_EQ(errno, EINTR);
    });
    while (thread == 0)
        std::this_thread::yield();
    until_it_waits(thread);
    ASSERT_EQ(pthread_kill(waiter.native_handle(), SIGUSR1), 0);
    waiter.join();
    EXPECT_GT(argument.timeout_ns, 0);
    EXPECT_LT(argument.timeout_ns, hour);
    EXPECT_EQ(argument.size, sizeof(argument));
}
