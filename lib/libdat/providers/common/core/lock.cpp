// SPDX-License-Identifier: MIT
#include "core/lock.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace rsmdat {

namespace {

// Most critical sections are over sooner than a sleep would be.
constexpr int TRIES = 100;

void pause_briefly() noexcept {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

} // namespace

void Lock::wait() noexcept {
    for (int i = 0; i < TRIES; ++i) {
        std::uint32_t expected = FREE;
        if (word_.load(std::memory_order_relaxed) == FREE &&
            word_.compare_exchange_weak(expected, HELD, std::memory_order_acquire,
                                        std::memory_order_relaxed))
            return;
        pause_briefly();
    }
    while (word_.exchange(AWAITED, std::memory_order_acquire) != FREE)
        ::syscall(SYS_futex, &word_, FUTEX_WAIT_PRIVATE, AWAITED, nullptr, nullptr, 0);
}

void Lock::wake() noexcept {
    ::syscall(SYS_futex, &word_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

} // namespace rsmdat
