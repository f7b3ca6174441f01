// SPDX-License-Identifier: GPL-2.0
// Tests that do what no test should: the runner has to notice (runner-tests/check.py).
#include "support/waiting.hpp"

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <sys/prctl.h>
#include <thread>
#include <unistd.h>

namespace {

std::ofstream file_of_root(const std::string &path)
{
    return std::ofstream(std::string(std::getenv("RSM_SAMPLE_ROOT")) + path, std::ios::app);
}

void log_record(int number, const std::string &message)
{
    file_of_root("/dev/kmsg") << "4," << number << ",1000,-;" << message << "\n SUBSYSTEM=none\n";
}

// Lives until it is killed.
void start_process()
{
    if (fork() == 0) {
        for (;;)
            pause();
    }
}

TEST(Results, Passes)
{
    std::puts("note: a figure");
}

TEST(Results, Fails)
{
    ADD_FAILURE() << "as it should";
}

TEST(Results, Skips)
{
    GTEST_SKIP() << "no device";
}

TEST(Results, ExitsEarly)
{
    std::exit(0);
}

TEST(Results, DiesOfSignal)
{
    std::raise(SIGKILL);
}

TEST(Results, KillsItsStarter)
{
    kill(getppid(), SIGKILL);
    pause();
}

TEST(Results, PassesAfterThat) {}

TEST(Waits, NeverEnds)
{
    std::thread([] { pause(); }).join();
}

TEST(Waits, HasName)
{
    const rsmtest::Waiting outer("something else");
    const rsmtest::Waiting waiting("what never comes");
    pause();
}

TEST(Waits, BlocksSignals)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    pause();
}

TEST(Waits, NeverEndsInChild)
{
    start_process();
    pause();
}

TEST(Leaves, Process)
{
    start_process();
}

TEST(Leaves, ProcessThatEnds)
{
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    if (fork() == 0) {
        close(ends[1]);
        // Returns when the test's process has ended.
        char byte = 0;
        _exit(read(ends[0], &byte, 1) == 0 ? 0 : 1);
    }
}

TEST(Leaves, Daemon)
{
    if (fork() == 0) {
        setsid();
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;)
            pause();
    }
}

TEST(Leaves, Handle)
{
    std::ofstream(std::string(std::getenv("RSM_SAMPLE_ROOT")) + "/sys/kernel/debug/rsm/stats")
        << "handles 1\nother 5\n";
}

TEST(Log, HasReport)
{
    log_record(7, "BUG: KASAN: use-after-free in rsm_export");
}

TEST(Log, HasHarmlessReport)
{
    log_record(8, "WARNING: CPU: 0 PID: 1 at drivers/infiniband/sw/rxe/rxe_comp.c:100 rxe_completer+0x1");
}

// A report of refcount_t whose trace begins in that function, and perhaps with that caller.
void log_miscount(const char *function, const char *caller = " rxe_destroy_qp+0x26/0x30 [rdma_rxe]")
{
    int number = 8;
    for (const std::string line : {"------------[ cut here ]------------", "refcount_t: underflow; use-after-free.",
                                   "WARNING: CPU: 1 PID: 1 at lib/refcount.c:28 refcount_warn_saturate+0xba/0x110",
                                   "RIP: 0010:refcount_warn_saturate+0xba/0x110", "Call Trace:", " <TASK>", " ? complete+0x18/0x80 [rsm]"})
        log_record(number++, line);
    log_record(number++, function);
    for (const std::string line : {caller, " </TASK>", "---[ end trace 0000000000000000 ]---"})
        log_record(number++, line);
}

TEST(Log, HasMiscountOfSoftRoce)
{
    log_miscount(" __rxe_cleanup+0x155/0x160 [rdma_rxe]");
}

TEST(Log, HasMiscount)
{
    log_miscount(" rsm_segment_put+0x10/0x20 [rsm]");
}

TEST(Log, HasMiscountBelowOurs)
{
    log_miscount(" __rxe_cleanup+0x155/0x160 [rdma_rxe]", " unregister+0x10/0x20 [rsm_rdma]");
}

TEST(Log, IsOverrun)
{
    log_record(9, "one");
    log_record(12, "WARNING: the next one that is still there");
}

TEST(Sanitizer, Reports)
{
    file_of_root("/reports/report.1") << "WARNING: ThreadSanitizer: data race\n";
}

TEST(Sanitizer, IsSilent) {}

// Ends with the last process that has the FIFO open.
void hold_fifo()
{
    std::ofstream held = file_of_root("/held");
    held << 'x' << std::flush;
    for (;;)
        pause();
}

TEST(Interrupted, OneProcess)
{
    hold_fifo();
}

TEST(Interrupted, TwoProcesses)
{
    if (std::ofstream held = file_of_root("/held"); fork() != 0)
        pause();
    hold_fifo();
}

class Values : public testing::TestWithParam<int> {};

TEST_P(Values, AreSeen)
{
    EXPECT_GT(GetParam(), 0);
}

INSTANTIATE_TEST_SUITE_P(Some, Values, testing::Values(1, 2));

} // namespace
