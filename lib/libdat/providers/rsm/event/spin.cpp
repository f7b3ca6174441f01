// SPDX-License-Identifier: MIT
#include "event/spin.h"

#include <thread>

namespace rsmdat {

namespace {

using Clock = std::chrono::steady_clock;

constexpr auto LONGEST = std::chrono::microseconds(20);
constexpr int PAUSES = 4;

// As many as this process may run on.
bool several_processors() noexcept {
    static const bool several = std::thread::hardware_concurrency() > 1;
    return several;
}

void pause() noexcept {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

} // namespace

Spin::Spin(bool worthwhile) noexcept {
    if (worthwhile && several_processors())
        end_ = Clock::now() + LONGEST;
}

bool Spin::turn(Ia &ia, Guard &guard) noexcept {
    if (end_ == Clock::time_point() || Clock::now() >= end_)
        return false;
    const Outside outside(ia, guard);
    for (int i = 0; i < PAUSES; ++i)
        pause();
    return true;
}

} // namespace rsmdat
