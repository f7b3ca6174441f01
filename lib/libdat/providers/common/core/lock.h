// SPDX-License-Identifier: MIT
// The lock of an IA, and the mutex that it stands for. The locks of several IAs can come to stand
// for one mutex.
#pragma once

#include <atomic>
#include <cstdint>

namespace rsmdat {

class Lock {
  public:
    constexpr Lock() noexcept = default;
    Lock(const Lock &) = delete;
    Lock &operator=(const Lock &) = delete;

    void lock() noexcept {
        std::uint32_t expected = FREE;
        if (!word_.compare_exchange_strong(expected, HELD, std::memory_order_acquire,
                                           std::memory_order_relaxed)) [[unlikely]]
            wait();
    }
    void unlock() noexcept {
        if (word_.exchange(FREE, std::memory_order_release) == AWAITED) [[unlikely]]
            wake();
    }

  private:
    static constexpr std::uint32_t FREE = 0;
    static constexpr std::uint32_t HELD = 1;
    static constexpr std::uint32_t AWAITED = 2; // held, and somebody may sleep

    void wait() noexcept;
    void wake() noexcept;

    std::atomic<std::uint32_t> word_{FREE};
};

} // namespace rsmdat
