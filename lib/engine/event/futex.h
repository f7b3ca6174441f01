// SPDX-License-Identifier: MIT
// A word to sleep on. Unlike a condition variable it tells when a signal ended the sleep.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

namespace rsmengine {

class Futex {
  public:
    using Clock = std::chrono::steady_clock;
    enum class Wake { WOKEN, TIMED_OUT, INTERRUPTED };

    // A value to give to sleep(): wakes that come after this was read are not missed.
    [[nodiscard]] std::uint32_t ticket() const noexcept {
        return word_.load(std::memory_order_acquire);
    }
    // Sleeps until wake(), until a signal handler has run, or until the deadline (none: for ever).
    // May return WOKEN early.
    Wake sleep(std::uint32_t ticket, std::optional<Clock::time_point> deadline) noexcept;
    void wake() noexcept; // all

  private:
    std::atomic<std::uint32_t> word_{0};
};

} // namespace rsmengine
