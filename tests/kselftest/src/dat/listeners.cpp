// SPDX-License-Identifier: GPL-2.0
// A listener that does not poll is told of what comes, although another has polled just before.
#include "dat/support/side.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <thread>

using namespace rsmtest;
using namespace rsmtest::dat;

namespace {

class Listeners : public testing::Test {
protected:
    // Long after a program has begun to poll, and has left it at that.
    void SetUp() override
    {
        b.accept_from(a);
        EXPECT_OK(b.receive(0, 8, 1));
        poll(b.receives);
        poll(b.requests);
        sleep_a_little();
    }
    static void poll(DAT_EVD_HANDLE evd)
    {
        DAT_EVENT event{};
        EXPECT_DAT(error(DAT_QUEUE_EMPTY), dat_evd_dequeue(evd, &event));
    }
    static void sleep_a_little() { std::this_thread::sleep_for(std::chrono::milliseconds(100)); }
    static DAT_RETURN wait(DAT_EVD_HANDLE evd, DAT_EVENT &event)
    {
        DAT_COUNT more = 0;
        return dat_evd_wait(evd, DAT_TIMEOUT_INFINITE, 1, &event, &more);
    }
    void send_soon()
    {
        sleep_a_little();
        EXPECT_OK(a.send(0, 8, 2));
    }

    // This process has no threads but this one and the library's.
    static long wakings_of_library() { return sleeps_of(RUSAGE_SELF) - sleeps_of(RUSAGE_THREAD); }
    static long sleeps_of(int who)
    {
        rusage usage{};
        getrusage(who, &usage);
        return usage.ru_nvcsw;
    }
    void write_and_poll()
    {
        EXPECT_OK(a.write(0, b.memory.remote(0, 8), 1));
        DAT_EVENT event{};
        while (dat_evd_dequeue(a.requests, &event) != DAT_SUCCESS && !HasFailure()) {
        }
    }

    // A thread that is woken must go back to sleep for the others to come on.
    struct OneProcessor {
        OneProcessor()
        {
            cpu_set_t one;
            CPU_ZERO(&one);
            CPU_SET(0, &one);
            EXPECT_EQ(0, sched_setaffinity(0, sizeof(one), &one));
        }
    } processor;
    Side a, b;
};

} // namespace

TEST_F(Listeners, are_not_woken_where_there_are_none)
{
    constexpr int writes = 400;
    write_and_poll();
    const long before = wakings_of_library();
    for (int i = 0; i < writes; i++)
        write_and_poll();
    EXPECT_LT(wakings_of_library() - before, writes / 4);
}

TEST_F(Listeners, waiter_that_comes_later)
{
    std::thread sender([&] { send_soon(); });
    DAT_EVENT event{};
    EXPECT_OK(wait(b.receives, event));
    EXPECT_EQ(event.event_number, DAT_DTO_COMPLETION_EVENT);
    sender.join();
}

TEST_F(Listeners, waiter_beside_one_who_polls)
{
    std::thread other([&] {
        sleep_a_little();
        for (int i = 0; i < 100; i++)
            poll(b.requests);
        send_soon();
    });
    DAT_EVENT event{};
    EXPECT_OK(wait(b.receives, event));
    EXPECT_EQ(event.event_number, DAT_DTO_COMPLETION_EVENT);
    other.join();
}

TEST_F(Listeners, cno_that_comes_later)
{
    DAT_CNO_HANDLE cno = DAT_HANDLE_NULL;
    ASSERT_OK(dat_cno_create(b.adapter, DAT_OS_WAIT_PROXY_AGENT_NULL, &cno));
    EXPECT_OK(dat_evd_modify_cno(b.receives, cno));
    EXPECT_OK(a.send(0, 8, 2));
    DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
    EXPECT_OK(dat_cno_wait(cno, DAT_TIMEOUT_INFINITE, &evd));
    EXPECT_EQ(evd, b.receives);
    EXPECT_OK(dat_evd_modify_cno(b.receives, DAT_HANDLE_NULL));
    EXPECT_OK(dat_cno_free(cno));
}

// Its requests are carried out first; it looks at none of its queues meanwhile.
TEST_F(Listeners, peer_of_one_who_disconnects)
{
    poll(a.requests);
    EXPECT_OK(a.write(0, b.memory.remote(0, 65536), 3));
    EXPECT_OK(dat_ep_disconnect(a.ep, DAT_CLOSE_GRACEFUL_FLAG));
    expect_event(b.connections, DAT_CONNECTION_EVENT_DISCONNECTED);
}
