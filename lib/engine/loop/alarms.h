// SPDX-License-Identifier: MIT
// Alarms: tasks, each with its time.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <unordered_map>

namespace rsmengine {

class Alarms {
  public:
    using Clock = std::chrono::steady_clock;
    using Work = std::function<void()>;

    std::uint64_t add(Clock::time_point when, Work what); // never 0; throws std::bad_alloc
    void cancel(std::uint64_t alarm) noexcept;            // no effect on one that is over
    [[nodiscard]] std::optional<Clock::time_point> next() const noexcept;
    // The first that is due, taken out; an empty function if none is.
    Work take_due(Clock::time_point now) noexcept;

  private:
    struct Entry {
        std::uint64_t number;
        Work what;
    };
    using Queue = std::multimap<Clock::time_point, Entry>;

    Queue queue_;
    std::unordered_map<std::uint64_t, Queue::iterator> places_;
    std::uint64_t last_ = 0;
};

} // namespace rsmengine
