// SPDX-License-Identifier: GPL-2.0
// Something that a session does over and over in the background.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>

namespace rsmtest::net {

class Hammer {
  public:
    // step() returns an RSMAPI status.
    explicit Hammer(std::function<int()> step);
    ~Hammer() { stop(); }
    Hammer(const Hammer &) = delete;
    Hammer &operator=(const Hammer &) = delete;

    void stop();
    std::uint64_t successes() const { return successes_; }
    std::uint64_t failures() const { return failures_; }
    int first_error() const { return first_error_; }
    int last_error() const { return last_error_; }

  private:
    void run();

    std::function<int()> step_;
    std::atomic<bool> stop_{false};
    std::atomic<std::uint64_t> successes_{0};
    std::atomic<std::uint64_t> failures_{0};
    std::atomic<int> first_error_{0};
    std::atomic<int> last_error_{0};
    std::thread thread_;
};

} // namespace rsmtest::net
