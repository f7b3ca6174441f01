// SPDX-License-Identifier: MIT
// The locks of IAs, and the mutexes that they stand for.
#include "engine/core/lock_pool.h"

#include <array>
#include <atomic>
#include <deque>
#include <gtest/gtest.h>
#include <new>
#include <sched.h>
#include <sys/resource.h>
#include <thread>
#include <vector>

namespace {

using rsmengine::BothLocks;
using rsmengine::Guard;
using rsmengine::Lock;
using rsmengine::PooledLock;

void join(Lock &follower, Lock &leader) {
    const BothLocks held(follower, leader);
    follower.take_mutex_of(leader);
}

bool joined(Lock &one, Lock &other) {
    const BothLocks held(one, other);
    return one.same_mutex(other);
}

TEST(DaplLock, StandsForItsOwnMutexAtFirst) {
    Lock one, other;
    EXPECT_FALSE(joined(one, other));
    const Guard guard(one);
    const Guard beside(other);
}

TEST(DaplLock, StandsForTheOthersMutexOnceJoined) {
    Lock one, other;
    join(one, other);
    EXPECT_TRUE(joined(one, other));
    join(one, other);
    join(other, one);
    EXPECT_TRUE(joined(one, other));
}

// A thread that waits for a lock when that is joined gets it all the same.
TEST(DaplLock, WaitersFollowToTheOtherMutex) {
    Lock one, other;
    std::atomic<bool> begun = false;
    std::atomic<bool> had = false;
    std::thread waiter;
    {
        const BothLocks held(one, other);
        waiter = std::thread([&] {
            begun = true;
            const Guard guard(one);
            had = true;
        });
        while (!begun)
            std::this_thread::yield();
        one.take_mutex_of(other);
        EXPECT_FALSE(had);
    }
    waiter.join();
    EXPECT_TRUE(had);
}

TEST(DaplLock, BothInEitherOrder) {
    constexpr int ROUNDS = 20000;
    Lock one, other;
    int count = 0;
    const auto work = [&count](Lock &first, Lock &second) {
        for (int i = 0; i < ROUNDS; ++i) {
            const BothLocks held(first, second);
            ++count;
        }
    };
    std::thread thread(work, std::ref(one), std::ref(other));
    work(other, one);
    thread.join();
    EXPECT_EQ(count, 2 * ROUNDS);
}

// Threads that use their locks meanwhile: once all are joined each excludes all others.
TEST(DaplLock, JoinedUnderFire) {
    constexpr int ROUNDS = 20000;
    constexpr std::size_t THREADS = 4;
    std::array<Lock, THREADS> locks;
    std::array<int, THREADS> own{};
    std::atomic<bool> all = false;
    int common = 0; // guarded by all of them, once they are joined
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < THREADS; ++i)
        threads.emplace_back([&, i] {
            for (int counted = 0; counted < ROUNDS;) {
                const Guard guard(locks[i]);
                ++own[i];
                if (!all)
                    continue;
                ++common;
                ++counted;
            }
        });
    join(locks[0], locks[1]);
    join(locks[2], locks[3]);
    {
        const BothLocks held(locks[1], locks[3]);
        for (std::size_t i : {0, 1})
            locks[i].take_mutex_of(locks[3]);
    }
    all = true;
    for (std::thread &thread : threads)
        thread.join();
    EXPECT_EQ(common, static_cast<int>(THREADS) * ROUNDS);
}

// The mutex of an IA that has closed is nobody else's as long as another IA uses it.
TEST(DaplLock, PoolKeepsAMutexThatIsInUse) {
    PooledLock survivor;
    {
        const PooledLock leader;
        join(*survivor, *leader);
    }
    std::deque<PooledLock> rest;
    try {
        for (;;) {
            Lock &fresh = *rest.emplace_back();
            EXPECT_FALSE(joined(*survivor, fresh));
        }
    } catch (const std::bad_alloc &) {
        EXPECT_GT(rest.size(), 1000U);
    }
    const std::size_t most = rest.size();
    rest.clear();
    // And is free again afterwards.
    {
        const PooledLock other;
        join(*survivor, *other);
    }
    try {
        for (;;)
            rest.emplace_back();
    } catch (const std::bad_alloc &) {
        EXPECT_EQ(rest.size(), most);
    }
}

// How often this thread has slept.
long sleeps() {
    rusage usage{};
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nvcsw;
}

// This thread, and those that it makes, run on one processor.
class OneProcessor {
  public:
    OneProcessor() {
        sched_getaffinity(0, sizeof before_, &before_);
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(sched_getcpu(), &one);
        sched_setaffinity(0, sizeof one, &one);
    }
    ~OneProcessor() { sched_setaffinity(0, sizeof before_, &before_); }
    OneProcessor(const OneProcessor &) = delete;
    OneProcessor &operator=(const OneProcessor &) = delete;

  private:
    cpu_set_t before_{};
};

// This thread does not take the processor from another one when it is woken: it runs when the other
// one's time is over, as if it had been woken on a processor that takes a while to wake up.
class Meek {
  public:
    Meek() { set(SCHED_BATCH); }
    ~Meek() { set(SCHED_OTHER); }
    Meek(const Meek &) = delete;
    Meek &operator=(const Meek &) = delete;

  private:
    static void set(int policy) {
        const sched_param none{};
        sched_setscheduler(0, policy, &none);
    }
};

// Takes a lock again as soon as it has let it go, as a program that polls does.
class Poller {
  public:
    explicit Poller(Lock &lock) : thread_([this, &lock] { poll(lock); }) {}
    ~Poller() {
        stopped_ = true;
        thread_.join();
    }
    Poller(const Poller &) = delete;
    Poller &operator=(const Poller &) = delete;

    void wait_for_rounds(unsigned more) const {
        for (const unsigned end = rounds_ + more; rounds_ < end;)
            std::this_thread::yield();
    }

  private:
    // It holds the lock for longer than others look before they sleep.
    void poll(Lock &lock) {
        while (!stopped_) {
            const Guard guard(lock);
            ++rounds_;
            for (int i = 0; i < 50'000; ++i)
                std::atomic_signal_fence(std::memory_order_seq_cst);
        }
    }

    std::atomic<bool> stopped_ = false;
    std::atomic<unsigned> rounds_ = 0;
    std::thread thread_;
};

// D26: the engine's thread was woken in vain each time that a polling thread let go of the lock.
TEST(DaplLock, SleepersGetItFromThreadsThatTakeItAgainAtOnce) {
    constexpr int TIMES = 50;
    const OneProcessor processor;
    Lock lock;
    const Poller poller(lock);
    const Meek meek;
    poller.wait_for_rounds(1);
    long slept = 0;
    for (int i = 0; i < TIMES; ++i) {
        const long before = sleeps();
        {
            const Guard guard(lock);
            slept += sleeps() - before;
        }
        poller.wait_for_rounds(1);
    }
    EXPECT_LE(slept, 5 * TIMES);
}

// More threads than processors, all of which want it all the time.
TEST(DaplLock, IsHeldByOneThreadWhoeverWasGivenIt) {
    constexpr int THREADS = 8;
    constexpr int ROUNDS = 20'000;
    Lock lock;
    int count = 0;
    std::vector<std::thread> threads;
    for (int thread = 0; thread < THREADS; ++thread)
        threads.emplace_back([&] {
            for (int i = 0; i < ROUNDS; ++i) {
                const Guard guard(lock);
                const int before = count;
                if (i % 64 == 0)
                    std::this_thread::yield();
                count = before + 1;
            }
        });
    for (std::thread &thread : threads)
        thread.join();
    EXPECT_EQ(count, THREADS * ROUNDS);
}

} // namespace
