// SPDX-License-Identifier: MIT
// The lock of an IA, and the mutex that it stands for. The locks of several IAs can come to stand
// for one mutex.
#pragma once

#include <atomic>
#include <cstdint>

namespace rsmengine {

#ifdef RSM_CHECKED
// How many mutexes of this file the thread holds (loop/blocking.h).
extern constinit thread_local int mutexes_held [[gnu::tls_model("initial-exec")]];
#endif

// Uncontended lock and unlock are an instruction each, inline: they are a good part of what a small
// transfer costs.
//
// A thread that wakes up because the mutex was free usually finds that another thread has taken it
// meanwhile. That is good for throughput, but a thread that polls holds the mutex nearly always:
// the engine's thread would be woken in vain each time the polling thread lets go. So a thread that
// has been woken in vain MOST_LOSSES times is given the mutex by the one that lets go: no other
// thread can take it then.
class Mutex {
  public:
    constexpr Mutex() noexcept = default;
    Mutex(const Mutex &) = delete;
    Mutex &operator=(const Mutex &) = delete;

    void lock() noexcept {
        std::uint32_t expected = FREE;
        if (!word_.compare_exchange_strong(expected, HELD, std::memory_order_acquire,
                                           std::memory_order_relaxed)) [[unlikely]]
            wait();
        count(1);
    }
    void unlock() noexcept {
        count(-1);
        std::uint32_t expected = HELD;
        if (!word_.compare_exchange_strong(expected, FREE, std::memory_order_release,
                                           std::memory_order_relaxed)) [[unlikely]]
            pass_on();
    }

  private:
    static constexpr std::uint32_t FREE = 0;
    static constexpr std::uint32_t HELD = 1;
    static constexpr std::uint32_t AWAITED = 2; // a thread holds it, and another one may sleep
    // The same, and a thread was woken in vain too often.
    static constexpr std::uint32_t STARVING = 3;
    static constexpr std::uint32_t GIVEN = 4; // free for threads that have slept, and for no other

    static void count([[maybe_unused]] int more) noexcept {
#ifdef RSM_CHECKED
        mutexes_held += more;
#endif
    }
    void wait() noexcept;
    bool spin() noexcept;
    bool take_or_sleep(int &sleeps) noexcept;
    void pass_on() noexcept;

    friend class Lock;
    friend class PooledLock;

    std::atomic<std::uint32_t> word_{FREE};
    std::atomic<int> users_{0}; // other Locks that have it, and the Ia whose Lock's own it is
};

// An Ia is known by its Lock, which stays the same as long as the Ia exists; the mutex behind the
// Lock may change. A thread changes that only while it holds the mutex that the Lock has had so
// far: so a Lock that is held keeps its mutex.
class Lock {
  public:
    constexpr Lock() noexcept = default;
    Lock(const Lock &) = delete;
    Lock &operator=(const Lock &) = delete;

    void lock() noexcept {
        for (;;) {
            Mutex &seen = mutex();
            seen.lock();
            if (&seen == &mutex()) [[likely]]
                return;
            seen.unlock();
        }
    }
    void unlock() noexcept { mutex().unlock(); }

    // True if the two Locks have the same mutex. The calling thread must hold one of them.
    [[nodiscard]] bool same_mutex(Lock &other) noexcept { return &mutex() == &other.mutex(); }
    // From now on this Lock has the mutex of the other one. The thread holds both.
    void take_mutex_of(Lock &other) noexcept;

  private:
    friend class BothLocks;
    friend class PooledLock;

    [[nodiscard]] Mutex &mutex() noexcept {
        Mutex *lent = lent_.load(std::memory_order_acquire);
        return lent != nullptr ? *lent : own_;
    }
    // The caller does not hold this Lock, which has own_ again afterwards.
    void return_mutex() noexcept;

    Mutex own_;
    std::atomic<Mutex *> lent_{nullptr}; // the mutex of another Lock that this one has; null: own_
};

// Holds two Locks as long as it exists, whatever mutexes they have. Two threads that lock the same
// two in different order do not deadlock.
class BothLocks {
  public:
    BothLocks(Lock &one, Lock &other) noexcept;
    ~BothLocks();
    BothLocks(const BothLocks &) = delete;
    BothLocks &operator=(const BothLocks &) = delete;

  private:
    Mutex *first_;
    Mutex *second_; // null if both Locks have the first one
};

} // namespace rsmengine
