// SPDX-License-Identifier: MIT
// The engine's thread and its alarms, with pipes in the place of doorbells.
#include "engine/core/ia.h"
#include "engine/loop/alarms.h"
#include "engine/loop/blocking.h"
#include "engine/loop/engine.h"
#include "engine/loop/job.h"

#include <array>
#include <atomic>
#include <condition_variable>
#include <csignal>
#include <gtest/gtest.h>
#include <memory>
#include <mutex>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

using rsmengine::about_to_block;
using rsmengine::Alarms;
using rsmengine::Engine;
using rsmengine::Guard;
using rsmengine::Lock;
using namespace std::chrono_literals;
using Clock = Engine::Clock;

TEST(Alarms, GoOffInTheOrderOfTheirTimes) {
    Alarms alarms;
    const auto now = Clock::now();
    std::vector<int> order;
    alarms.add(now - 1s, [&] { order.push_back(2); });
    alarms.add(now - 2s, [&] { order.push_back(1); });
    alarms.add(now - 1s, [&] { order.push_back(3); });
    alarms.add(now + 1s, [&] { order.push_back(4); });
    EXPECT_EQ(alarms.next(), now - 2s);
    while (const auto what = alarms.take_due(now))
        what();
    EXPECT_EQ(order, (std::vector{1, 2, 3}));
    EXPECT_EQ(alarms.next(), now + 1s);
}

TEST(Alarms, DoNotGoOffWhenCancelled) {
    Alarms alarms;
    const auto now = Clock::now();
    const auto first = alarms.add(now, [] {});
    const auto second = alarms.add(now, [] {});
    EXPECT_NE(first, 0U);
    EXPECT_NE(first, second);
    alarms.cancel(first);
    alarms.cancel(first);
    alarms.cancel(0);
    EXPECT_TRUE(alarms.take_due(now));
    EXPECT_FALSE(alarms.take_due(now));
    alarms.cancel(second);
    EXPECT_EQ(alarms.next(), std::nullopt);
}

// A pipe; counts how often it was found ready.
class Bell : public rsmengine::Source {
  public:
    explicit Bell(std::condition_variable_any &its_changed) : changed(its_changed) {
        EXPECT_EQ(::pipe(ends.data()), 0);
    }
    ~Bell() {
        ::close(ends[0]);
        ::close(ends[1]);
    }
    Bell(const Bell &) = delete;
    Bell &operator=(const Bell &) = delete;

    void ready(std::uint32_t its_events) noexcept override {
        char byte = 0;
        EXPECT_EQ(::read(ends[0], &byte, 1), 1);
        events = its_events;
        ++rung;
        if (on_ready)
            on_ready();
        changed.notify_all();
    }
    void ring() const { EXPECT_EQ(::write(ends[1], "!", 1), 1); }
    [[nodiscard]] int fd() const { return ends[0]; }

    std::condition_variable_any &changed;
    std::array<int, 2> ends{};
    std::uint32_t events = 0;
    int rung = 0;
    std::function<void()> on_ready;
};

class EngineTest : public testing::Test {
  protected:
    template <class Condition>
    bool comes(Guard &guard, Condition condition) {
        changed.wait(guard, condition);
        return true;
    }
    // Everything that was to be done before this call has been done.
    void settle() {
        Guard guard(lock);
        bool done = false;
        engine->at(Clock::now() + 20ms, [&] {
            done = true;
            changed.notify_all();
        });
        ASSERT_TRUE(comes(guard, [&] { return done; }));
    }

    Lock lock;
    std::condition_variable_any changed;
    std::unique_ptr<Engine> engine = std::make_unique<Engine>(lock);
};

TEST_F(EngineTest, HearsABell) {
    Bell bell(changed);
    Guard guard(lock);
    engine->watch(bell.fd(), EPOLLIN, bell);
    for (int i = 1; i <= 3; ++i) {
        bell.ring();
        ASSERT_TRUE(comes(guard, [&] { return bell.rung == i; }));
    }
    EXPECT_EQ(bell.events, static_cast<std::uint32_t>(EPOLLIN));
    engine->forget(bell.fd());
}

TEST_F(EngineTest, ForgetsABellAtOnce) {
    Bell bell(changed);
    {
        const Guard guard(lock);
        engine->watch(bell.fd(), EPOLLIN, bell);
        bell.ring();
        // The thread may have the event already, and waits for the lock.
        std::this_thread::sleep_for(20ms);
        engine->forget(bell.fd());
        engine->forget(bell.fd());
    }
    settle();
    EXPECT_EQ(bell.rung, 0);
}

TEST_F(EngineTest, AnOldEventIsNotThatOfTheNextOwner) {
    Bell first(changed);
    Bell second(changed);
    {
        const Guard guard(lock);
        engine->watch(first.fd(), EPOLLIN, first);
        first.ring();
        std::this_thread::sleep_for(20ms);
        engine->watch(first.fd(), EPOLLPRI, second);
    }
    settle();
    EXPECT_EQ(first.rung + second.rung, 0);
    const Guard guard(lock);
    engine->forget(first.fd());
}

TEST_F(EngineTest, ABellMayMakeTheEngineForgetAnother) {
    Bell first(changed);
    Bell second(changed);
    first.on_ready = [&] { engine->forget(second.fd()); };
    second.on_ready = [&] { engine->forget(first.fd()); };
    {
        const Guard guard(lock);
        engine->watch(first.fd(), EPOLLIN, first);
        engine->watch(second.fd(), EPOLLIN, second);
        first.ring();
        second.ring();
    }
    settle();
    EXPECT_EQ(first.rung + second.rung, 1);
}

TEST_F(EngineTest, WhatCanNotBeWatchedIsAnError) {
    Bell bell(changed);
    const Guard guard(lock);
    EXPECT_THROW(engine->watch(-1, EPOLLIN, bell), std::bad_alloc);
}

TEST_F(EngineTest, AnAlarmIsNotEarlyAndAnEarlierOneShortensTheSleep) {
    Guard guard(lock);
    const auto late = engine->at(Clock::now() + 1h, [] { ADD_FAILURE(); });
    guard.unlock();
    std::this_thread::sleep_for(10ms); // now it sleeps
    guard.lock();
    const auto due = Clock::now() + 40ms;
    Clock::time_point went_off{};
    engine->at(due, [&] {
        went_off = Clock::now();
        changed.notify_all();
    });
    ASSERT_TRUE(comes(guard, [&] { return went_off != Clock::time_point{}; }));
    EXPECT_GE(went_off, due);
    engine->cancel(late);
}

TEST_F(EngineTest, ACancelledAlarmStaysSilent) {
    bool went_off = false;
    {
        const Guard guard(lock);
        engine->cancel(engine->at(Clock::now(), [&] { went_off = true; }));
    }
    settle();
    EXPECT_FALSE(went_off);
}

TEST_F(EngineTest, CallsRunInOrderWithoutTheLock) {
    Guard guard(lock);
    std::vector<int> order;
    engine->later([&] {
        const Guard inner(lock);
        order.push_back(1);
    });
    engine->later([&] {
        const Guard inner(lock);
        order.push_back(2);
        engine->later([&] {
            const Guard innermost(lock);
            order.push_back(3);
            changed.notify_all();
        });
    });
    ASSERT_TRUE(comes(guard, [&] { return order.size() == 3; }));
    EXPECT_EQ(order, (std::vector{1, 2, 3}));
}

// A gate that work waits at until the test opens it.
class Gate {
  public:
    void pass() {
        std::unique_lock guard(mutex_);
        changed_.wait(guard, [this] { return open_; });
    }
    void open() {
        const std::scoped_lock guard(mutex_);
        open_ = true;
        changed_.notify_all();
    }

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool open_ = false;
};

TEST_F(EngineTest, WorkThatBlocksHoldsUpNobody) {
    Gate gate;
    Bell bell(changed);
    Guard guard(lock);
    for (int i = 0; i < 3; ++i)
        engine->aside([&] { gate.pass(); });
    bool called = false;
    bool worked = false;
    bool alarmed = false;
    const auto note = [&](bool &what) {
        return [&] {
            const Guard inner(lock);
            what = true;
            changed.notify_all();
        };
    };
    engine->later(note(called));
    engine->aside(note(worked));
    engine->at(Clock::now(), [&] {
        EXPECT_TRUE(Engine::is_this_thread());
        alarmed = true;
        changed.notify_all();
    });
    engine->watch(bell.fd(), EPOLLIN, bell);
    bell.ring();
    changed.wait(guard, [&] { return called && worked && alarmed && bell.rung == 1; });
    engine->forget(bell.fd());
    gate.open();
    guard.unlock();
    engine.reset(); // nobody is in the gate any more
}

using DaplRsmEngineDeathTest = EngineTest;

// Builds with tests enforce the rule.
TEST_F(DaplRsmEngineDeathTest, TheEnginesThreadMayNotBlock) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    const auto block_on_the_engine = [this] {
        {
            const Guard guard(lock);
            engine->at(Clock::now(), [] { about_to_block("this test"); });
        }
        for (;;)
            ::pause();
    };
    EXPECT_DEATH(block_on_the_engine(), "the engine's thread may not block: this test");
}

// The engine's thread would wait for the lock.
TEST_F(DaplRsmEngineDeathTest, AThreadThatHoldsTheLockMayNotBlock) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    const auto block_with_the_lock = [this] {
        const Guard guard(lock);
        about_to_block("this test");
    };
    EXPECT_DEATH(block_with_the_lock(), "a thread with Ia::lock may not block: this test");
}

TEST_F(EngineTest, AThreadThatHasGivenTheLockUpMayBlock) {
    Lock second;
    {
        const rsmengine::BothLocks both(lock, second);
    }
    Guard guard(lock);
    guard.unlock();
    about_to_block("this test");
}

// An object that takes its time to end.
class Slow final : public rsmengine::Job {
  public:
    explicit Slow(std::function<void()> at_end) : at_end_(std::move(at_end)) {}
    ~Slow() override { at_end_(); }

  private:
    std::function<void()> at_end_;
};

TEST_F(EngineTest, AnObjectEndsElsewhereWhenTheLockIsFree) {
    Guard guard(lock);
    bool ended = false;
    engine->end_aside(std::make_unique<Slow>([&] {
        about_to_block("this test");
        const Guard inner(lock);
        ended = true;
        changed.notify_all();
    }));
    EXPECT_FALSE(ended);
    changed.wait(guard, [&] { return ended; });
}

TEST_F(EngineTest, AnEndWaitsForNoHelperAndForNoOtherEnd) {
    Gate gate;
    Guard guard(lock);
    for (int i = 0; i < 100; ++i)
        engine->aside([&] { gate.pass(); });
    engine->end_aside(std::make_unique<Slow>([&] { gate.pass(); }));
    bool ended = false;
    engine->end_aside(std::make_unique<Slow>([&] {
        const Guard inner(lock);
        ended = true;
        changed.notify_all();
    }));
    changed.wait(guard, [&] { return ended; });
    gate.open();
    guard.unlock();
    engine.reset();
}

TEST_F(EngineTest, NoEndIsLostWhenTheEngineStops) {
    constexpr int OBJECTS = 100;
    std::atomic<int> ended = 0;
    {
        const Guard guard(lock);
        for (int i = 0; i < OBJECTS; ++i)
            engine->end_aside(std::make_unique<Slow>([&] { ++ended; }));
    }
    engine->stop();
    EXPECT_EQ(ended, OBJECTS);
    engine->end_aside(std::make_unique<Slow>([&] { ++ended; }));
    EXPECT_EQ(ended, OBJECTS + 1);
}

TEST_F(EngineTest, HelpersMayBlock) {
    Guard guard(lock);
    int passed = 0;
    const auto block = [&] {
        about_to_block("a helper");
        const Guard inner(lock);
        ++passed;
        changed.notify_all();
    };
    engine->aside(block);
    engine->later(block);
    changed.wait(guard, [&] { return passed == 2; });
}

// It may take long: unmapping, unpinning, closing.
TEST_F(EngineTest, WhatWorkHoldsIsDestroyedWithoutTheLockAndElsewhere) {
    Guard guard(lock);
    int destroyed = 0;
    const auto holder = [&] {
        return std::shared_ptr<int>(new int, [&](const int *held) {
            const Guard inner(lock);
            EXPECT_FALSE(Engine::is_this_thread());
            delete held;
            ++destroyed;
            changed.notify_all();
        });
    };
    engine->aside([held = holder()] {});
    engine->later([held = holder()] {});
    changed.wait(guard, [&] { return destroyed == 2; });
}

// The call behind it is destroyed instead.
TEST_F(EngineTest, ACallMayEndTheEngine) {
    bool ended = false;
    bool second_ran = false;
    bool destroyed = false;
    Guard guard(lock);
    engine->later([&] {
        Guard inner(lock); // the second is in the queue then
        auto last = std::move(engine);
        inner.unlock();
        last.reset();
        inner.lock();
        ended = true;
        changed.notify_all();
    });
    engine->later([&, held = std::shared_ptr<int>(new int, [&](const int *number) {
                          const Guard inner(lock);
                          delete number;
                          destroyed = true;
                          changed.notify_all();
                      })] { second_ran = true; });
    changed.wait(guard, [&] { return ended && destroyed; });
    EXPECT_FALSE(second_ran);
}

TEST_F(EngineTest, SignalsAreForOtherThreads) {
    sigset_t blocked;
    ::sigemptyset(&blocked);
    Guard guard(lock);
    bool done = false;
    engine->later([&] {
        ::pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
        const Guard inner(lock);
        done = true;
        changed.notify_all();
    });
    ASSERT_TRUE(comes(guard, [&] { return done; }));
    EXPECT_EQ(::sigismember(&blocked, SIGALRM), 1);
    EXPECT_EQ(::sigismember(&blocked, SIGTERM), 1);
    sigset_t ours;
    ::pthread_sigmask(SIG_BLOCK, nullptr, &ours);
    EXPECT_EQ(::sigismember(&ours, SIGTERM), 0);
}

std::chrono::microseconds processor_time() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    const auto of = [](const timeval &time) {
        return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
    };
    return of(usage.ru_utime) + of(usage.ru_stime);
}

// The processor time of the process in a part of a second.
std::chrono::microseconds used_meanwhile() {
    const auto before = processor_time();
    std::this_thread::sleep_for(300ms);
    return processor_time() - before;
}

// A guest whose processor is taken away takes that for time used, but not each time. An engine that is busy never leaves
// the loop: the limit of the test's run ends it.
TEST_F(EngineTest, UsesNoProcessorWhileNothingHappens) {
    Bell bell(changed);
    {
        Guard guard(lock);
        engine->watch(bell.fd(), EPOLLIN, bell);
        bell.ring();
        ASSERT_TRUE(comes(guard, [&] { return bell.rung == 1; }));
    }
    settle();
    while (used_meanwhile() >= 100ms)
        continue;
    const Guard guard(lock);
    engine->forget(bell.fd());
}

TEST_F(EngineTest, EndsWhileItsThreadIsBusy) {
    Bell bell(changed);
    {
        Guard guard(lock);
        bell.on_ready = [&] { bell.ring(); };
        engine->watch(bell.fd(), EPOLLIN, bell);
        bell.ring();
        ASSERT_TRUE(comes(guard, [&] { return bell.rung > 0; }));
    }
    engine.reset();
}

} // namespace
