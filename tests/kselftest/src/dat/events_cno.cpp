// SPDX-License-Identifier: GPL-2.0
// Consumer notification objects (udapl-functions.md section 6.6).
#include "dat/support/waiter.hpp"

#include <algorithm>
#include <chrono>
#include <gtest/gtest.h>
#include <memory>
#include <mutex>
#include <vector>

using namespace rsmtest;
using namespace rsmtest::dat;
using namespace std::chrono_literals;

namespace {

// Arguments of the calls of an agent.
class Calls {
public:
    DAT_OS_WAIT_PROXY_AGENT agent() { return {this, &Calls::called}; }
    std::size_t count(DAT_EVD_HANDLE evd)
    {
        const std::lock_guard guard(lock_);
        return static_cast<std::size_t>(std::count(evds_.begin(), evds_.end(), evd));
    }
    bool reaches(DAT_EVD_HANDLE evd, std::size_t wanted)
    {
        return eventually([this, evd, wanted] { return count(evd) >= wanted; });
    }

private:
    static void called(DAT_PVOID self, DAT_EVD_HANDLE evd)
    {
        auto &calls = *static_cast<Calls *>(self);
        const std::lock_guard guard(calls.lock_);
        calls.evds_.push_back(evd);
    }

    std::mutex lock_;
    std::vector<DAT_EVD_HANDLE> evds_;
};

class EventsCno : public testing::Test {
protected:
    static DAT_CNO_HANDLE make(const Adapter &adapter,
                               DAT_OS_WAIT_PROXY_AGENT agent = DAT_OS_WAIT_PROXY_AGENT_NULL)
    {
        DAT_CNO_HANDLE cno = DAT_HANDLE_NULL;
        EXPECT_OK(dat_cno_create(adapter, agent, &cno));
        return cno;
    }
    // A software event triggers before its post returns, so one look shows that there is no trigger.
    void expect_quiet()
    {
        EXPECT_DAT(error(DAT_QUEUE_EMPTY), dat_cno_wait(cno, 0, &hint));
        EXPECT_EQ(hint, DAT_HANDLE_NULL);
    }
    void expect_trigger(DAT_EVD_HANDLE by)
    {
        EXPECT_OK(dat_cno_wait(cno, DAT_TIMEOUT_INFINITE, &hint));
        EXPECT_EQ(hint, by);
    }
    // Takes the event and what the CNO remembers of it.
    void drain(DAT_EVD_HANDLE from, std::uintptr_t number)
    {
        dequeue_software(from, number);
        while (dat_cno_wait(cno, 0, &hint) == DAT_SUCCESS)
            ;
    }

    Calls calls;
    Adapter adapter;
    DAT_CNO_HANDLE cno = make(adapter);
    DAT_EVD_HANDLE one = adapter.make_evd(DAT_EVD_SOFTWARE_FLAG, 16, cno);
    DAT_EVD_HANDLE two = adapter.make_evd(DAT_EVD_SOFTWARE_FLAG, 16, cno);
    DAT_EVD_HANDLE hint = nullptr;
};

} // namespace

TEST_F(EventsCno, time_out)
{
    hint = one;
    const auto start = std::chrono::steady_clock::now();
    EXPECT_DAT(error(DAT_QUEUE_EMPTY), dat_cno_wait(cno, 150000, &hint));
    EXPECT_GE(std::chrono::steady_clock::now() - start, 150ms);
    EXPECT_EQ(hint, DAT_HANDLE_NULL);
    EXPECT_DAT(error(DAT_QUEUE_EMPTY), dat_cno_wait(cno, 0, &hint));
}

TEST_F(EventsCno, arrival_wakes_the_waiter)
{
    CnoWaiter waiter(cno, DAT_TIMEOUT_INFINITE);
    ASSERT_TRUE(waiter.waits());
    EXPECT_OK(post_software(two, 1));
    EXPECT_EQ(waiter.result(), Result{DAT_SUCCESS});
    EXPECT_EQ(waiter.evd, two);
    dequeue_software(two, 1);
}

// Nobody waited: the next one does not, either.
TEST_F(EventsCno, trigger_is_remembered)
{
    EXPECT_OK(post_software(one, 1));
    expect_trigger(one);
    drain(one, 1);
    expect_quiet();
    EXPECT_OK(post_software(two, 2));
    dequeue_software(two, 2); // the trigger outlives the event, which is allowed; a lost one is not
    while (dat_cno_wait(cno, 0, &hint) == DAT_SUCCESS)
        ;
    EXPECT_OK(post_software(one, 3));
    expect_trigger(one);
}

// Two events, two waits: each may be told once per EVD, none is lost.
TEST_F(EventsCno, both_evds_are_told)
{
    EXPECT_OK(post_software(one, 1));
    EXPECT_OK(post_software(two, 2));
    std::size_t found = 0;
    for (int round = 0; round < 2; round++) {
        EXPECT_OK(dat_cno_wait(cno, DAT_TIMEOUT_INFINITE, &hint));
        DAT_EVENT event{};
        if (dat_evd_dequeue(one, &event) == DAT_SUCCESS)
            found++;
        if (dat_evd_dequeue(two, &event) == DAT_SUCCESS)
            found++;
        if (found == 2)
            break;
    }
    EXPECT_EQ(found, 2U);
}

TEST_F(EventsCno, each_waiter_is_woken)
{
    CnoWaiter first(cno, DAT_TIMEOUT_INFINITE);
    CnoWaiter second(cno, DAT_TIMEOUT_INFINITE);
    ASSERT_TRUE(first.waits());
    ASSERT_TRUE(second.waits());
    EXPECT_OK(post_software(one, 1));
    EXPECT_OK(post_software(two, 2));
    EXPECT_EQ(first.result(), Result{DAT_SUCCESS});
    EXPECT_EQ(second.result(), Result{DAT_SUCCESS});
}

TEST_F(EventsCno, free_with_a_waiter)
{
    const DAT_CNO_HANDLE bare = make(adapter);
    CnoWaiter waiter(bare, DAT_TIMEOUT_INFINITE);
    ASSERT_TRUE(waiter.waits()); // no EVD is no reason to come back
    EXPECT_DAT(bad_state(DAT_INVALID_STATE_CNO_IN_USE), dat_cno_free(bare));
    EXPECT_OK(dat_evd_modify_cno(one, bare));
    EXPECT_OK(post_software(one, 1));
    EXPECT_EQ(waiter.result(), Result{DAT_SUCCESS});
    EXPECT_OK(dat_evd_modify_cno(one, DAT_HANDLE_NULL));
    EXPECT_OK(dat_cno_free(bare));
}

// The documented way to get a waiter out.
TEST_F(EventsCno, attached_while_waited_for)
{
    const DAT_CNO_HANDLE bare = make(adapter);
    CnoWaiter waiter(bare, DAT_TIMEOUT_INFINITE);
    ASSERT_TRUE(waiter.waits());
    EXPECT_OK(dat_evd_modify_cno(one, bare));
    EXPECT_OK(post_software(one, 1));
    EXPECT_EQ(waiter.result(), Result{DAT_SUCCESS});
    EXPECT_EQ(waiter.evd, one);
}

TEST_F(EventsCno, last_evd_leaves)
{
    CnoWaiter waiter(cno, DAT_TIMEOUT_INFINITE);
    ASSERT_TRUE(waiter.waits());
    EXPECT_OK(dat_evd_modify_cno(one, DAT_HANDLE_NULL));
    EXPECT_TRUE(waiter.waits());
    EXPECT_OK(dat_evd_free(two));
    EXPECT_EQ(waiter.result(), Result{DAT_SUCCESS});
    EXPECT_EQ(waiter.evd, DAT_HANDLE_NULL);
}

TEST_F(EventsCno, abrupt_close_lets_the_waiter_go)
{
    CnoWaiter waiter(cno, DAT_TIMEOUT_INFINITE);
    ASSERT_TRUE(waiter.waits());
    EXPECT_OK(dat_ia_close(adapter, DAT_CLOSE_ABRUPT_FLAG));
    adapter.ia = DAT_HANDLE_NULL;
    waiter.result();
    EXPECT_EQ(waiter.evd, DAT_HANDLE_NULL);
}

TEST_F(EventsCno, signal_interrupts)
{
    CnoWaiter waiter(cno, DAT_TIMEOUT_INFINITE);
    ASSERT_TRUE(waiter.waits());
    waiter.signal();
    EXPECT_EQ(waiter.result(), error(DAT_INTERRUPTED_CALL));
    EXPECT_EQ(waiter.evd, DAT_HANDLE_NULL);
}

TEST_F(EventsCno, disabled_evd_does_not_trigger)
{
    EXPECT_OK(dat_evd_disable(one));
    EXPECT_OK(post_software(one, 1));
    expect_quiet();
    EXPECT_OK(dat_evd_enable(one)); // with an event that notifies
    expect_trigger(one);
    drain(one, 1);
    EXPECT_OK(post_software(one, 2));
    expect_trigger(one);
}

TEST_F(EventsCno, unwaitable_evd_triggers)
{
    EXPECT_OK(dat_evd_set_unwaitable(one));
    EXPECT_OK(post_software(one, 1));
    expect_trigger(one);
    dequeue_software(one, 1);
}

// The waiter at the EVD has the event.
TEST_F(EventsCno, waiter_at_the_evd_comes_first)
{
    EvdWaiter waiter(one, DAT_TIMEOUT_INFINITE);
    ASSERT_TRUE(waiter.waits());
    EXPECT_OK(post_software(one, 1));
    EXPECT_EQ(waiter.result(), Result{DAT_SUCCESS});
    expect_quiet();
}

TEST_F(EventsCno, switched_to_another)
{
    const DAT_CNO_HANDLE other = make(adapter, calls.agent());
    EXPECT_OK(post_software(one, 1));
    EXPECT_OK(dat_evd_modify_cno(one, other));
    EXPECT_OK(dat_cno_wait(other, DAT_TIMEOUT_INFINITE, &hint)); // what was queued at the switch
    EXPECT_EQ(hint, one);
    EXPECT_TRUE(calls.reaches(one, 1));
    drain(one, 1);
    EXPECT_OK(post_software(one, 2));
    expect_quiet();
    EXPECT_OK(dat_cno_wait(other, DAT_TIMEOUT_INFINITE, &hint));
    EXPECT_TRUE(calls.reaches(one, 2));
    DAT_EVD_PARAM param{};
    EXPECT_OK(dat_evd_query(one, DAT_EVD_FIELD_ALL, &param));
    EXPECT_EQ(param.cno_handle, other);
}

TEST_F(EventsCno, agent_is_told_of_each_trigger)
{
    DAT_CNO_PARAM param{};
    EXPECT_OK(dat_cno_modify_agent(cno, calls.agent()));
    EXPECT_OK(dat_cno_query(cno, DAT_CNO_FIELD_ALL, &param));
    EXPECT_EQ(param.ia_handle, adapter.ia);
    EXPECT_EQ(param.agent.instance_data, &calls);
    for (std::uintptr_t i = 1; i <= 5; i++) {
        EXPECT_OK(post_software(i % 2 ? one : two, i));
        EXPECT_TRUE(calls.reaches(i % 2 ? one : two, (i + 1) / 2)) << i;
    }
    EXPECT_OK(dat_cno_modify_agent(cno, DAT_OS_WAIT_PROXY_AGENT_NULL));
    EXPECT_OK(post_software(one, 6));
    EXPECT_OK(dat_cno_wait(cno, DAT_TIMEOUT_INFINITE, &hint)); // the agent took nothing away
    EXPECT_EQ(calls.count(one) + calls.count(two), 5U);
}

TEST_F(EventsCno, agent_is_told_of_the_end)
{
    EXPECT_OK(dat_cno_modify_agent(cno, calls.agent()));
    EXPECT_OK(dat_ia_close(adapter, DAT_CLOSE_ABRUPT_FLAG));
    adapter.ia = DAT_HANDLE_NULL;
    EXPECT_TRUE(calls.reaches(DAT_HANDLE_NULL, 1));
}
