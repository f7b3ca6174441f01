// SPDX-License-Identifier: GPL-2.0
#include "measure.hpp"

#include <algorithm>
#include <chrono>
#include <limits>

namespace rsmperf {

namespace {

using Clock = std::chrono::steady_clock;

double elapsed_ns(Clock::time_point since) {
    return std::chrono::duration<double, std::nano>(Clock::now() - since).count();
}

} // namespace

Times best_of(unsigned rounds, const std::function<double()> &figure,
              const std::function<double()> &floor) {
    constexpr auto never = std::numeric_limits<double>::infinity();
    Times best{never, never};

    for (unsigned round = 0; round < rounds; round++) {
        best.floor_ns = std::min(best.floor_ns, floor());
        best.figure_ns = std::min(best.figure_ns, figure());
    }
    return best;
}

double time_batch(const Batch &batch, std::size_t count) {
    const auto start = Clock::now();
    batch(count);
    return elapsed_ns(start) / static_cast<double>(count);
}

std::size_t calibrate(const Settings &settings, const Batch &batch) {
    const double wanted = settings.batch_ms * 1e6;

    for (std::size_t count = 1;; count *= 2) {
        const double took = time_batch(batch, count) * static_cast<double>(count);
        if (took >= wanted) {
            return count;
        }
    }
}

Times compare(const Settings &settings, const Batch &figure, const Batch &floor) {
    const auto floor_count = calibrate(settings, floor);
    const auto figure_count = calibrate(settings, figure);

    return best_of(
        settings.rounds, [&] { return time_batch(figure, figure_count); },
        [&] { return time_batch(floor, floor_count); });
}

Times compare_single(const Settings &settings, const Batch &figure, const Batch &floor) {
    floor(1);
    figure(1);
    return best_of(
        settings.rounds, [&] { return time_batch(figure, 1); },
        [&] { return time_batch(floor, 1); });
}

} // namespace rsmperf
