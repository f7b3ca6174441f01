// SPDX-License-Identifier: MIT
#include "engine/core/lock.h"

#include <algorithm>
#include <functional>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace rsmengine {

#ifdef RSM_CHECKED
constinit thread_local int mutexes_held [[gnu::tls_model("initial-exec")]] = 0;
#endif

namespace {

// Most critical sections are shorter than a sleep and a wake-up.
constexpr int TRIES = 100;

// How often a thread is woken in vain before it is given the mutex. Each time the mutex is given it
// lies idle until that thread runs, so this is not for the usual case.
constexpr int MOST_LOSSES = 3;

void pause_briefly() noexcept {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

} // namespace

bool Mutex::spin() noexcept {
    for (int i = 0; i < TRIES; ++i) {
        std::uint32_t expected = FREE;
        if (word_.load(std::memory_order_relaxed) == FREE &&
            word_.compare_exchange_weak(expected, HELD, std::memory_order_acquire,
                                        std::memory_order_relaxed))
            return true;
        pause_briefly();
    }
    return false;
}

// One look decides, so a thread that has slept never sleeps while the mutex is given: no other
// thread might be left to take it. A thread that has not slept yet can't take it then: it sleeps
// behind those that have. Others may sleep when it is taken: they are woken when it is let go.
bool Mutex::take_or_sleep(int &sleeps) noexcept {
    std::uint32_t seen = word_.load(std::memory_order_relaxed);
    if (seen == FREE || (seen == GIVEN && sleeps > 0))
        return word_.compare_exchange_strong(seen, AWAITED, std::memory_order_acquire,
                                             std::memory_order_relaxed);
    const std::uint32_t wanted = sleeps < MOST_LOSSES ? AWAITED : STARVING;
    if (seen < wanted && !word_.compare_exchange_strong(seen, wanted, std::memory_order_relaxed,
                                                        std::memory_order_relaxed))
        return false;
    ::syscall(SYS_futex, &word_, FUTEX_WAIT_PRIVATE, std::max(seen, wanted), nullptr, nullptr, 0);
    ++sleeps;
    return false;
}

void Mutex::wait() noexcept {
    int sleeps = 0;
    if (spin())
        return;
    while (!take_or_sleep(sleeps))
        continue;
}

void Mutex::pass_on() noexcept {
    std::uint32_t seen = word_.load(std::memory_order_relaxed);
    while (!word_.compare_exchange_weak(seen, seen == STARVING ? GIVEN : FREE,
                                        std::memory_order_release, std::memory_order_relaxed))
        continue;
    ::syscall(SYS_futex, &word_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

// A thread that waits for the former mutex gets it, sees that the Lock has another one, and waits
// for that one.
void Lock::take_mutex_of(Lock &other) noexcept {
    Mutex &to = other.mutex();
    if (&to == &mutex())
        return;
    if (&to != &own_)
        to.users_.fetch_add(1);
    Mutex *before = lent_.exchange(&to != &own_ ? &to : nullptr, std::memory_order_release);
    if (before != nullptr)
        before->users_.fetch_sub(1);
}

void Lock::return_mutex() noexcept {
    lock();
    Mutex *lent = lent_.exchange(nullptr, std::memory_order_release);
    (lent != nullptr ? *lent : own_).unlock();
    if (lent != nullptr)
        lent->users_.fetch_sub(1);
}

// In the order of their addresses. Either Lock may get another mutex before both are held.
BothLocks::BothLocks(Lock &one, Lock &other) noexcept {
    for (;;) {
        Mutex *const of_one = &one.mutex();
        Mutex *const of_other = &other.mutex();
        first_ = std::min(of_one, of_other, std::less<>());
        second_ = of_one == of_other ? nullptr : std::max(of_one, of_other, std::less<>());
        first_->lock();
        if (second_ != nullptr)
            second_->lock();
        if (&one.mutex() == of_one && &other.mutex() == of_other)
            return;
        if (second_ != nullptr)
            second_->unlock();
        first_->unlock();
    }
}

BothLocks::~BothLocks() {
    if (second_ != nullptr)
        second_->unlock();
    first_->unlock();
}

} // namespace rsmengine
