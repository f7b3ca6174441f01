// SPDX-License-Identifier: GPL-2.0
// Event dispatchers: queue, waiter, threshold, states (udapl-functions.md sections 6.1 to 6.5).
#include "dat/support/waiter.hpp"

#include <chrono>
#include <gtest/gtest.h>
#include <memory>
#include <set>

using namespace rsmtest;
using namespace rsmtest::dat;
using namespace std::chrono_literals;

namespace {

class Events : public testing::Test {
protected:
    DAT_EVD_PARAM param() const
    {
        DAT_EVD_PARAM result{};
        EXPECT_OK(dat_evd_query(evd, DAT_EVD_FIELD_ALL, &result));
        return result;
    }
    unsigned state() const { return static_cast<unsigned>(param().evd_state); }
    void post(std::uintptr_t first, std::uintptr_t last) const
    {
        for (std::uintptr_t i = first; i <= last; i++)
            EXPECT_OK(post_software(evd, i));
    }

    Adapter adapter;
    DAT_EVD_HANDLE evd = adapter.make_evd(DAT_EVD_SOFTWARE_FLAG, 8);
    DAT_EVENT event{};
    DAT_COUNT more = -1;
};

constexpr unsigned initial =
    DAT_EVD_STATE_ENABLED | DAT_EVD_STATE_WAITABLE | DAT_EVD_STATE_CONFIG_THRESHOLD;

} // namespace

TEST_F(Events, first_in_first_out)
{
    post(1, 5);
    for (std::uintptr_t i = 1; i <= 3; i++) {
        EXPECT_OK(dat_evd_wait(evd, 0, 1, &event, &more));
        expect_software(event, i);
        EXPECT_EQ(event.evd_handle, evd);
        EXPECT_EQ(more, static_cast<DAT_COUNT>(5 - i));
    }
    dequeue_software(evd, 4);
    dequeue_software(evd, 5);
    EXPECT_DAT(error(DAT_QUEUE_EMPTY), dat_evd_dequeue(evd, &event));
}

// Only the pointer is carried over.
TEST_F(Events, software_event_says_its_evd)
{
    event.event_number = DAT_SOFTWARE_EVENT;
    event.evd_handle = adapter.async;
    event.event_data.software_event_data.pointer = &event;
    EXPECT_OK(dat_evd_post_se(evd, &event));
    DAT_EVENT got{};
    EXPECT_OK(dat_evd_dequeue(evd, &got));
    EXPECT_EQ(got.evd_handle, evd);
    EXPECT_EQ(got.event_data.software_event_data.pointer, &event);
}

TEST_F(Events, full_queue_refuses_software_events)
{
    const auto length = static_cast<std::uintptr_t>(param().evd_qlen);
    ASSERT_GE(length, 8U);
    post(1, length);
    EXPECT_DAT(error(DAT_QUEUE_FULL), post_software(evd, 99));
    EXPECT_DAT(error(DAT_QUEUE_FULL), post_software(evd, 99));
    adapter.expect_no_async_event(); // no overflow
    dequeue_software(evd, 1);
    EXPECT_OK(post_software(evd, length + 1));
    for (std::uintptr_t i = 2; i <= length + 1; i++)
        dequeue_software(evd, i);
}

TEST_F(Events, resize_keeps_what_is_queued)
{
    post(1, 6);
    dequeue_software(evd, 1);
    EXPECT_OK(dat_evd_resize(evd, param().evd_qlen));
    EXPECT_OK(dat_evd_resize(evd, 3000));
    EXPECT_GE(param().evd_qlen, 3000);
    post(7, 2900);
    EXPECT_DAT(bad_state(), dat_evd_resize(evd, 10));
    EXPECT_GE(param().evd_qlen, 2899);
    for (std::uintptr_t i = 2; i <= 2895; i++)
        dequeue_software(evd, i);
    EXPECT_OK(dat_evd_resize(evd, 5));
    for (std::uintptr_t i = 2896; i <= 2900; i++)
        dequeue_software(evd, i);
    EXPECT_DAT(error(DAT_QUEUE_EMPTY), dat_evd_dequeue(evd, &event));
}

TEST_F(Events, resize_under_a_waiter)
{
    EvdWaiter waiter(evd, DAT_TIMEOUT_INFINITE, 8);
    post(1, 4);
    EXPECT_TRUE(waiter.waits());
    EXPECT_OK(dat_evd_resize(evd, 100));
    post(5, 8);
    EXPECT_EQ(waiter.result(), Result{DAT_SUCCESS});
    expect_software(waiter.event, 1);
    EXPECT_EQ(waiter.more, 7);
}

TEST_F(Events, time_out_takes_the_time_and_nothing_else)
{
    post(1, 2);
    const auto start = std::chrono::steady_clock::now();
    EXPECT_DAT(error(DAT_TIMEOUT_EXPIRED), dat_evd_wait(evd, 200000, 3, &event, &more));
    const auto took = std::chrono::steady_clock::now() - start;
    EXPECT_GE(took, 200ms);
    EXPECT_EQ(more, 2);
    EXPECT_DAT(error(DAT_TIMEOUT_EXPIRED), dat_evd_wait(evd, 0, 3, &event, &more));
    EXPECT_EQ(more, 2);
    dequeue_software(evd, 1);
    dequeue_software(evd, 2);
}

TEST_F(Events, threshold_counts_what_is_there)
{
    post(1, 3);
    EXPECT_OK(dat_evd_wait(evd, 0, 3, &event, &more));
    expect_software(event, 1);
    EXPECT_EQ(more, 2);
    EvdWaiter waiter(evd, DAT_TIMEOUT_INFINITE, 4);
    post(4, 4);
    EXPECT_TRUE(waiter.waits());
    post(5, 5);
    EXPECT_EQ(waiter.result(), Result{DAT_SUCCESS});
    expect_software(waiter.event, 2);
    EXPECT_EQ(waiter.more, 3);
}

TEST_F(Events, endless_wait_ends_with_the_event)
{
    EvdWaiter waiter(evd, DAT_TIMEOUT_INFINITE);
    EXPECT_TRUE(waiter.waits());
    post(1, 1);
    EXPECT_EQ(waiter.result(), Result{DAT_SUCCESS});
    expect_software(waiter.event, 1);
    EXPECT_EQ(waiter.more, 0);
}

TEST_F(Events, one_waiter_at_a_time)
{
    EvdWaiter waiter(evd, DAT_TIMEOUT_INFINITE, 2);
    ASSERT_TRUE(waiter.waits());
    const Result refused = bad_state(DAT_INVALID_STATE_EVD_WAITER);
    EXPECT_DAT(refused, dat_evd_wait(evd, 0, 1, &event, &more));
    EXPECT_DAT(refused, dat_evd_wait(evd, DAT_TIMEOUT_INFINITE, 1, &event, &more));
    EXPECT_DAT(refused, dat_evd_dequeue(evd, &event));
    EXPECT_DAT(refused, dat_evd_free(evd));
    post(1, 1);
    EXPECT_DAT(refused, dat_evd_dequeue(evd, &event)); // below the threshold
    post(2, 2);
    EXPECT_EQ(waiter.result(), Result{DAT_SUCCESS});
    dequeue_software(evd, 2);
}

TEST_F(Events, signal_interrupts)
{
    post(1, 2);
    EvdWaiter waiter(evd, DAT_TIMEOUT_INFINITE, 3);
    ASSERT_TRUE(waiter.waits());
    waiter.signal();
    EXPECT_EQ(waiter.result(), error(DAT_INTERRUPTED_CALL));
    EXPECT_EQ(waiter.more, 2);
    dequeue_software(evd, 1);
    dequeue_software(evd, 2);
}

TEST_F(Events, unwaitable)
{
    const Result refused = bad_state(DAT_INVALID_STATE_EVD_UNWAITABLE);
    EXPECT_EQ(state(), initial);
    EvdWaiter waiter(evd, DAT_TIMEOUT_INFINITE);
    ASSERT_TRUE(waiter.waits());
    EXPECT_OK(dat_evd_set_unwaitable(evd));
    EXPECT_EQ(waiter.result(), refused);
    EXPECT_OK(dat_evd_set_unwaitable(evd));
    EXPECT_EQ(state(), initial ^ DAT_EVD_STATE_WAITABLE ^ DAT_EVD_STATE_UNWAITABLE);
    post(1, 2);
    EXPECT_DAT(refused, dat_evd_wait(evd, 0, 1, &event, &more));
    dequeue_software(evd, 1);
    EXPECT_OK(dat_evd_clear_unwaitable(evd));
    EXPECT_OK(dat_evd_clear_unwaitable(evd));
    EXPECT_EQ(state(), initial);
    EXPECT_OK(dat_evd_wait(evd, 0, 1, &event, &more));
    expect_software(event, 2);
}

TEST_F(Events, disabled_is_no_matter_of_the_waiter)
{
    EXPECT_OK(dat_evd_disable(evd));
    EXPECT_OK(dat_evd_disable(evd));
    EXPECT_EQ(state(), initial ^ DAT_EVD_STATE_ENABLED ^ DAT_EVD_STATE_DISABLED);
    EvdWaiter waiter(evd, DAT_TIMEOUT_INFINITE);
    EXPECT_TRUE(waiter.waits());
    post(1, 1);
    EXPECT_EQ(waiter.result(), Result{DAT_SUCCESS});
    EXPECT_OK(dat_evd_enable(evd));
    EXPECT_OK(dat_evd_enable(evd));
    EXPECT_EQ(state(), initial);
}

TEST_F(Events, abrupt_close_lets_the_waiter_go)
{
    EvdWaiter waiter(evd, DAT_TIMEOUT_INFINITE);
    ASSERT_TRUE(waiter.waits());
    EXPECT_OK(dat_ia_close(adapter, DAT_CLOSE_ABRUPT_FLAG));
    adapter.ia = DAT_HANDLE_NULL;
    EXPECT_EQ(waiter.result(), error(DAT_ABORT));
}

// A waiter of the asynchronous EVD, which belongs to the IA.
TEST_F(Events, graceful_close_with_a_waiter_of_the_asynchronous_evd)
{
    EXPECT_OK(dat_evd_free(evd));
    EXPECT_DAT(bad_state(DAT_INVALID_STATE_EVD_IN_USE), dat_evd_free(adapter.async));
    EvdWaiter waiter(adapter.async, DAT_TIMEOUT_INFINITE);
    ASSERT_TRUE(waiter.waits());
    EXPECT_OK(dat_ia_close(adapter, DAT_CLOSE_GRACEFUL_FLAG));
    adapter.ia = DAT_HANDLE_NULL;
    EXPECT_EQ(waiter.result(), error(DAT_ABORT));
}

// Many threads take events and many post them: each is seen once.
TEST_F(Events, each_event_goes_to_one_thread)
{
    constexpr unsigned threads = 4;
    constexpr std::uintptr_t each = 500;
    std::vector<std::vector<std::uintptr_t>> taken(threads);
    std::atomic<std::size_t> left{threads * each};
    std::vector<std::thread> crowd;
    ASSERT_OK(dat_evd_resize(evd, threads * each));
    for (unsigned t = 0; t < threads; t++) {
        crowd.emplace_back([&, t] { post(t * each + 1, (t + 1) * each); });
        crowd.emplace_back([&, t] {
            DAT_EVENT mine{};
            while (left > 0)
                if (dat_evd_dequeue(evd, &mine) == DAT_SUCCESS) {
                    left--;
                    taken[t].push_back(reinterpret_cast<std::uintptr_t>(
                        mine.event_data.software_event_data.pointer));
                }
        });
    }
    for (std::thread &thread : crowd)
        thread.join();
    std::set<std::uintptr_t> all;
    for (const auto &list : taken)
        all.insert(list.begin(), list.end());
    EXPECT_EQ(all.size(), threads * each);
}
