// SPDX-License-Identifier: MIT
// Polling for events for a moment before going to sleep: an event that comes within it costs no
// system call.
#pragma once

#include "engine/core/ia.h"

#include <chrono>

namespace rsmengine {

// Decides whether a waiter polls first. A peer that has taken longer than a spin to answer mostly
// takes as long the next time. A spin then costs time and brings nothing: it disarms the
// connections, and the waiter has to arm them again.
class SpinPolicy {
  public:
    // True if the next waiter is to poll first.
    [[nodiscard]] bool next() noexcept;
    void learn(bool hit) noexcept;

  private:
    unsigned misses_ = 0; // spins in a row without an event
    unsigned waits_ = 0;  // calls of next() with misses_ at its limit
};

class Spin {
  public:
    // `worthwhile`: false if polling would find nothing. A thread that may run on one processor
    // only does not spin.
    Spin(bool worthwhile, SpinPolicy &policy) noexcept;
    ~Spin();
    Spin(const Spin &) = delete;
    Spin &operator=(const Spin &) = delete;

    [[nodiscard]] bool worthwhile() const noexcept { return worthwhile_; }
    // Releases the lock for a moment, so that other threads get it. False when the time for
    // spinning is over.
    bool turn(Ia &ia, Guard &guard) noexcept;

  private:
    const bool worthwhile_;
    bool over_ = false;
    SpinPolicy &spin_policy_;
    std::chrono::steady_clock::time_point end_{}; // zero until the first turn()
};

} // namespace rsmengine
