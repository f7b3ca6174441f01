// SPDX-License-Identifier: MIT
#include "engine/event/spin.h"

#include <sched.h>

namespace rsmengine {

namespace {

using Clock = std::chrono::steady_clock;

constexpr auto LONGEST_SPIN = std::chrono::microseconds(20);
constexpr int PAUSES = 4;
constexpr unsigned MOST_MISSES = 4; // after so many, one waiter of NEXT_TRY spins
constexpr unsigned NEXT_TRY = 16;

// True if the calling thread could run on several processors when it spun first. Another thread can
// then bring the event while this one spins.
bool several_processors() noexcept {
    thread_local const bool several = [] {
        cpu_set_t allowed;
        // The call fails if the set is too small for the machine, which then has many processors.
        return ::sched_getaffinity(0, sizeof(allowed), &allowed) != 0 || CPU_COUNT(&allowed) > 1;
    }();
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

bool SpinPolicy::next() noexcept {
    return misses_ < MOST_MISSES || ++waits_ % NEXT_TRY == 0;
}

void SpinPolicy::learn(bool hit) noexcept {
    misses_ = hit ? 0 : misses_ + 1;
}

Spin::Spin(bool worthwhile, SpinPolicy &policy) noexcept
    : worthwhile_(worthwhile && several_processors() && policy.next()), spin_policy_(policy) {}

Spin::~Spin() {
    if (end_ != Clock::time_point())
        spin_policy_.learn(!over_);
}

bool Spin::turn(Ia &ia, Guard &guard) noexcept {
    if (!worthwhile_ || over_)
        return false;
    const auto now = Clock::now();
    if (end_ == Clock::time_point())
        end_ = now + LONGEST_SPIN;
    over_ = now >= end_;
    if (over_)
        return false;
    const UnlockedScope unlocked(ia, guard);
    for (int i = 0; i < PAUSES; ++i)
        pause();
    return true;
}

} // namespace rsmengine
