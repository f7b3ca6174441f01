// SPDX-License-Identifier: MIT
// Looking for events for a moment before going to sleep: what comes within it costs no system call.
#pragma once

#include "engine/core/ia.h"

#include <chrono>

namespace rsmdat {

// Whether it pays: peers that take longer than that to answer will mostly go on doing so. Looking
// has a price then: the connections are disarmed for it and have to be armed again.
class SpinPolicy {
  public:
    // Is the next waiter to look first?
    [[nodiscard]] bool next() noexcept;
    void learn(bool hit) noexcept;

  private:
    unsigned misses_ = 0; // in a row
    unsigned waits_ = 0;  // since then
};

class Spin {
  public:
    // Not worth it if nobody else can run meanwhile, or if nothing would be seen by looking.
    Spin(bool worthwhile, SpinPolicy &policy) noexcept;
    ~Spin();
    Spin(const Spin &) = delete;
    Spin &operator=(const Spin &) = delete;

    [[nodiscard]] bool worthwhile() const noexcept { return worthwhile_; }
    // Lets others have the lock for a while. False: enough of that.
    bool turn(Ia &ia, Guard &guard) noexcept;

  private:
    const bool worthwhile_;
    bool over_ = false;
    SpinPolicy &spin_policy_;
    std::chrono::steady_clock::time_point end_{}; // none: not begun
};

} // namespace rsmdat
