// SPDX-License-Identifier: GPL-2.0
// A waiter sleeps, and a process that is only connected uses no processor.
#include "dat/support/side.hpp"
#include "support/child.hpp"
#include "support/system.hpp"

#include <algorithm>
#include <ctime>
#include <gtest/gtest.h>
#include <thread>

using namespace rsmtest;
using namespace rsmtest::dat;

namespace {

using Milliseconds = std::chrono::duration<double, std::milli>;

// Processor time of all threads of the process.
Milliseconds processor_time()
{
    timespec now{};
    EXPECT_EQ(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now), 0);
    return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

double used_part(const std::function<void()> &for_a_second)
{
    const auto before = processor_time();
    const auto start = std::chrono::steady_clock::now();
    for_a_second();
    const Milliseconds passed = std::chrono::steady_clock::now() - start;
    EXPECT_GE(passed.count(), 990);
    return (processor_time() - before) / passed;
}

// At most 5 % of the time, where the kernel is not slow itself. A guest whose processor is taken
// away takes that for time used, but not in each second.
void expect_idle(const std::function<void()> &for_a_second)
{
    const double limit = 0.05 * slow_factor();
    const Waiting waiting("a second in which the process is idle");
    while (used_part(for_a_second) >= limit)
        continue;
}

void sleep_a_second()
{
    std::this_thread::sleep_for(std::chrono::seconds(1));
}

class Idle : public testing::Test {
protected:
    // Connected, and the last polling has been forgotten.
    void SetUp() override
    {
        b.accept_from(a);
        EXPECT_OK(b.receive(0, 8, 1));
        EXPECT_OK(a.send(0, 8, 2));
        expect_completion(b.receives, 1);
        expect_completion(a.requests, 2);
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    static void wait_in_vain(DAT_EVD_HANDLE evd)
    {
        DAT_EVENT event{};
        DAT_COUNT more = 0;
        EXPECT_DAT(error(DAT_TIMEOUT_EXPIRED), dat_evd_wait(evd, 1000000, 1, &event, &more));
    }

    Side a, b;
};

} // namespace

TEST_F(Idle, connected)
{
    expect_idle(sleep_a_second);
}

TEST_F(Idle, with_requests_that_wait_for_the_peer)
{
    EXPECT_OK(a.send(0, 60000, 1)); // nobody receives
    EXPECT_OK(a.receive(0, 100, 2)); // nobody sends
    expect_idle(sleep_a_second);
    EXPECT_EQ(state_of(a.ep), DAT_EP_STATE_CONNECTED);
}

TEST_F(Idle, in_evd_wait)
{
    for (const DAT_EVD_HANDLE evd : {b.receives, a.requests, a.connections, b.arrivals})
        expect_idle([&] { wait_in_vain(evd); });
}

TEST_F(Idle, in_cno_wait)
{
    DAT_CNO_HANDLE cno = DAT_HANDLE_NULL;
    EXPECT_OK(dat_cno_create(b.adapter, DAT_OS_WAIT_PROXY_AGENT_NULL, &cno));
    EXPECT_OK(dat_evd_modify_cno(b.receives, cno));
    expect_idle([&] {
        DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
        EXPECT_DAT(error(DAT_QUEUE_EMPTY), dat_cno_wait(cno, 1000000, &evd));
    });
    EXPECT_OK(dat_evd_modify_cno(b.receives, DAT_HANDLE_NULL));
    EXPECT_OK(dat_cno_free(cno));
}

TEST_F(Idle, after_polling)
{
    DAT_EVENT event{};
    for (int i = 0; i < 1000; i++)
        EXPECT_DAT(error(DAT_QUEUE_EMPTY), dat_evd_dequeue(b.receives, &event));
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    expect_idle(sleep_a_second);
}

TEST_F(Idle, after_the_end)
{
    EXPECT_OK(dat_ep_disconnect(a.ep, DAT_CLOSE_ABRUPT_FLAG));
    expect_event(b.connections, DAT_CONNECTION_EVENT_DISCONNECTED);
    expect_idle(sleep_a_second);
}

// A peer in another process; who sleeps is woken.
TEST(IdleTwo, sleepers_are_woken)
{
    Child child([](Link &link) {
        Side side;
        EXPECT_OK(side.receive(0, 8, 1));
        EXPECT_OK(connect(side, link.receive()));
        expect_event(side.connections, DAT_CONNECTION_EVENT_ESTABLISHED);
        expect_completion(side.receives, 1);
        EXPECT_OK(side.send(0, 8, 2));
        expect_completion(side.requests, 2);
        link.receive();
    });
    Side side;
    DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
    DAT_CONN_QUAL qualifier = 0;
    ASSERT_OK(dat_psp_create_any(side.adapter, &qualifier, side.arrivals, DAT_PSP_CONSUMER_FLAG,
                                 &psp));
    child.send(qualifier);
    const DAT_EVENT event = expect_event(side.arrivals, DAT_CONNECTION_REQUEST_EVENT);
    EXPECT_OK(side.receive(0, 8, 3));
    EXPECT_OK(dat_cr_accept(event.event_data.cr_arrival_event_data.cr_handle, side.ep, 0, nullptr));
    expect_event(side.connections, DAT_CONNECTION_EVENT_ESTABLISHED);
    sleep_a_second();
    EXPECT_OK(side.send(0, 8, 4));
    expect_completion(side.receives, 3);
    child.send();
    child.expect_success();
}
