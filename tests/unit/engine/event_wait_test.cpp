// SPDX-License-Identifier: MIT
// dat_evd_wait.
#include "event_fake.h"

#include <atomic>
#include <csignal>
#include <future>
#include <vector>

namespace {

using namespace rsmengine;
using fake::error;
using Clock = std::chrono::steady_clock;

class WaitTest : public fake::Adapter {
  protected:
    // Waits on another thread.
    static std::future<DAT_RETURN> start(DAT_EVD_HANDLE evd, DAT_COUNT threshold = 1,
                                         DAT_TIMEOUT timeout = DAT_TIMEOUT_INFINITE) {
        auto result = std::async(std::launch::async, [=] { return wait(evd, timeout, threshold); });
        await_waiter(evd);
        return result;
    }
    // A waiter that takes one event of two or more says how many it has left: that many were there when it woke.
    static std::future<DAT_COUNT> start_to_count(DAT_EVD_HANDLE evd, DAT_COUNT threshold = 1) {
        auto left = std::async(std::launch::async, [=] {
            DAT_EVENT event;
            DAT_COUNT more = -1;
            EXPECT_EQ(rsmdat::evd_wait(evd, DAT_TIMEOUT_INFINITE, threshold, &event, &more), DAT_SUCCESS);
            return more;
        });
        await_waiter(evd);
        return left;
    }
    // Time for a waiter that should sleep on to wake, and to take what is there.
    static void let_wake() { std::this_thread::sleep_for(std::chrono::milliseconds(20)); }
};

TEST_F(WaitTest, ChecksItsArguments) {
    const auto evd = make_evd(4);
    DAT_EVENT event;
    DAT_COUNT more = 0;
    EXPECT_EQ(rsmdat::evd_wait(evd, 0, 1, nullptr, &more), rsmdat::invalid_parameter(4));
    EXPECT_EQ(rsmdat::evd_wait(evd, 0, 1, &event, nullptr), rsmdat::invalid_parameter(5));
    EXPECT_EQ(wait(evd, 0, 0), rsmdat::invalid_parameter(3));
    EXPECT_EQ(wait(evd, 0, -1), rsmdat::invalid_parameter(3));
    EXPECT_EQ(wait(evd, 0, 5), rsmdat::invalid_parameter(3));
    EXPECT_EQ(wait(evd, 0, 4), error(DAT_TIMEOUT_EXPIRED));
    EXPECT_EQ(wait(nullptr, 0), error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE1));
}

TEST_F(WaitTest, TakesOneAndCountsTheRest) {
    const auto evd = make_evd(4);
    for (std::uintptr_t i = 1; i <= 3; ++i)
        post(evd, i);
    DAT_EVENT event;
    DAT_COUNT more = -1;
    EXPECT_EQ(rsmdat::evd_wait(evd, 0, 2, &event, &more), DAT_SUCCESS);
    EXPECT_EQ(more, 2);
    EXPECT_EQ(event.event_data.software_event_data.pointer, reinterpret_cast<DAT_PVOID>(1));
    EXPECT_EQ(rsmdat::evd_wait(evd, 1000, 3, &event, &more), error(DAT_TIMEOUT_EXPIRED));
    EXPECT_EQ(more, 2);
}

TEST_F(WaitTest, LastsAsLongAsItShould) {
    const auto evd = make_evd();
    const auto start = Clock::now();
    EXPECT_EQ(wait(evd, 30'000), error(DAT_TIMEOUT_EXPIRED));
    EXPECT_GE(Clock::now() - start, std::chrono::milliseconds(30));
}

TEST_F(WaitTest, EndsWhenTheThresholdIsReached) {
    const auto evd = make_evd();
    auto waiter = start_to_count(evd, 3);
    post(evd);
    post(evd);
    let_wake();
    post(evd);
    EXPECT_EQ(waiter.get(), 2) << "the waiter woke before the third";
    EXPECT_EQ(dequeue(evd), DAT_SUCCESS);
}

TEST_F(WaitTest, SleepsOnWhenAnEventDoesNotNotify) {
    const auto evd = make_evd();
    auto waiter = start_to_count(evd);
    deliver(evd, false);
    let_wake();
    deliver(evd, true);
    EXPECT_EQ(waiter.get(), 1) << "the waiter woke before the notification";
    EXPECT_EQ(wait(evd, 0), DAT_SUCCESS);
    deliver(evd, false);
    EXPECT_EQ(wait(evd, DAT_TIMEOUT_INFINITE), DAT_SUCCESS) << "queued before: returned at once";
}

TEST_F(WaitTest, IsForOneAtATime) {
    const auto evd = make_evd();
    auto waiter = start(evd);
    EXPECT_EQ(wait(evd, 0), rsmdat::invalid_state(DAT_INVALID_STATE_EVD_WAITER));
    EXPECT_EQ(dequeue(evd), rsmdat::invalid_state(DAT_INVALID_STATE_EVD_WAITER));
    EXPECT_EQ(rsmdat::evd_free(evd), rsmdat::invalid_state(DAT_INVALID_STATE_EVD_WAITER));
    post(evd);
    EXPECT_EQ(waiter.get(), DAT_SUCCESS);
}

TEST_F(WaitTest, EndsWhenUnwaitable) {
    const auto evd = make_evd();
    auto waiter = start(evd);
    EXPECT_EQ(rsmdat::evd_set_unwaitable(evd), DAT_SUCCESS);
    EXPECT_EQ(waiter.get(), rsmdat::invalid_state(DAT_INVALID_STATE_EVD_UNWAITABLE));
    post(evd);
    EXPECT_EQ(wait(evd, 0), rsmdat::invalid_state(DAT_INVALID_STATE_EVD_UNWAITABLE));
    EXPECT_EQ(dequeue(evd), DAT_SUCCESS);
    EXPECT_EQ(rsmdat::evd_clear_unwaitable(evd), DAT_SUCCESS);
    EXPECT_EQ(wait(evd, 0), error(DAT_TIMEOUT_EXPIRED));
}

TEST_F(WaitTest, EndsWhenTheQueueDies) {
    const auto evd = make_evd(1);
    auto waiter = start(evd);
    deliver(evd, false);
    let_wake();
    deliver(evd, false);
    EXPECT_EQ(waiter.get(), DAT_SUCCESS) << "the one that fitted";
    EXPECT_EQ(wait(evd, 0), rsmdat::invalid_state());
}

TEST_F(WaitTest, ShrinkingLeavesRoomForTheThreshold) {
    const auto evd = make_evd(8);
    auto waiter = start(evd, 3);
    EXPECT_EQ(rsmdat::evd_resize(evd, 1), DAT_SUCCESS);
    for (int i = 0; i < 3; ++i)
        EXPECT_EQ(post(evd), DAT_SUCCESS);
    EXPECT_EQ(waiter.get(), DAT_SUCCESS);
}

// Even if the handler was installed so that system calls go on.
TEST_F(WaitTest, EndsWithASignal) {
    struct sigaction action {};
    action.sa_handler = [](int) {};
    action.sa_flags = SA_RESTART;
    ASSERT_EQ(::sigaction(SIGUSR1, &action, nullptr), 0);
    const auto evd = make_evd();
    post(evd);
    constexpr DAT_TIMEOUT hour = 3'600'000'000;
    for (const DAT_TIMEOUT timeout : {hour, DAT_TIMEOUT_INFINITE}) {
        DAT_RETURN result = DAT_SUCCESS;
        DAT_COUNT more = -1;
        std::atomic<bool> over = false;
        std::thread waiter([&] {
            DAT_EVENT event;
            result = rsmdat::evd_wait(evd, timeout, 2, &event, &more);
            over = true;
        });
        // One that comes before the wait ends nothing.
        while (!over) {
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
            ::pthread_kill(waiter.native_handle(), SIGUSR1);
        }
        waiter.join();
        EXPECT_EQ(result, error(DAT_INTERRUPTED_CALL));
        EXPECT_EQ(more, 1);
    }
}

TEST_F(WaitTest, CloseAborts) {
    auto waiter = start(make_evd());
    auto async_waiter = start(async_evd);
    close();
    EXPECT_EQ(waiter.get(), error(DAT_ABORT));
    EXPECT_EQ(async_waiter.get(), error(DAT_ABORT));
}

// Exactly once each, whoever posts and whoever takes.
TEST_F(WaitTest, ManyPostersOneWaiter) {
    constexpr int EACH = 2000;
    const auto evd = make_evd(4 * EACH);
    std::vector<std::jthread> posters;
    for (int i = 0; i < 4; ++i)
        posters.emplace_back([&] {
            for (int n = 0; n < EACH; ++n)
                EXPECT_EQ(post(evd), DAT_SUCCESS);
        });
    for (int n = 0; n < 4 * EACH; ++n)
        ASSERT_EQ(wait(evd, DAT_TIMEOUT_INFINITE), DAT_SUCCESS);
    EXPECT_EQ(dequeue(evd), error(DAT_QUEUE_EMPTY));
}

} // namespace
