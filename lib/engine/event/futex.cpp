// SPDX-License-Identifier: MIT
#include "engine/event/futex.h"

#include "engine/loop/blocking.h"

#include <cerrno>
#include <climits>
#include <ctime>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace rsmengine {

namespace {

// A sleep without a time limit would be resumed after handlers that were installed with SA_RESTART.
constexpr std::time_t FOR_EVER = std::time_t{1} << 40;

timespec until(std::optional<Futex::Clock::time_point> deadline) noexcept {
    if (!deadline)
        return {FOR_EVER, 0};
    const auto time = deadline->time_since_epoch();
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time);
    const auto rest = std::chrono::duration_cast<std::chrono::nanoseconds>(time - seconds);
    return {static_cast<std::time_t>(seconds.count()), static_cast<long>(rest.count())};
}

} // namespace

// steady_clock is CLOCK_MONOTONIC, which is what FUTEX_WAIT_BITSET goes by.
Futex::Wake Futex::sleep(std::uint32_t ticket, std::optional<Clock::time_point> deadline) noexcept {
    about_to_block("futex");
    const timespec time = until(deadline);
    if (::syscall(SYS_futex, &word_, FUTEX_WAIT_BITSET_PRIVATE, ticket, &time, nullptr,
                  FUTEX_BITSET_MATCH_ANY) == 0)
        return Wake::WOKEN;
    if (errno == ETIMEDOUT)
        return Wake::TIMED_OUT;
    return errno == EINTR ? Wake::INTERRUPTED : Wake::WOKEN;
}

void Futex::wake() noexcept {
    word_.fetch_add(1, std::memory_order_release);
    ::syscall(SYS_futex, &word_, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

} // namespace rsmengine
