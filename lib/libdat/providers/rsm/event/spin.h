// SPDX-License-Identifier: MIT
// Looking for events for a moment before going to sleep: what comes within it costs no system call.
#pragma once

#include "core/ia.h"

#include <chrono>

namespace rsmdat {

class Spin {
  public:
    // Not worth it if nobody else can run meanwhile, or if nothing would be seen by looking.
    explicit Spin(bool worthwhile) noexcept;
    // Lets others have the lock for a while. False: enough of that.
    bool turn(Ia &ia, Guard &guard) noexcept;

  private:
    std::chrono::steady_clock::time_point end_{};
};

} // namespace rsmdat
