// SPDX-License-Identifier: GPL-2.0
// When the server looks after what no event tells of, and which of its looks decide.
#pragma once

#include <chrono>

namespace ivshmem {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds look_interval{200};

// A look is late when the server has missed several: the server or its machine stood still, and perhaps the clients with
// it. While nobody waits for anything, the server does not look either; its next look is late, too.
enum class Look { early, due, late };

class Looks {
  public:
    explicit Looks(Clock::time_point now) : last_(now) {}

    // Whether to look now; unless it is early, this is the last look from now on.
    Look begin(Clock::time_point now) {
        const auto passed = now - last_;
        if (passed < look_interval) {
            return Look::early;
        }
        last_ = now;
        return passed > 5 * look_interval ? Look::late : Look::due;
    }

  private:
    Clock::time_point last_;
};

} // namespace ivshmem
