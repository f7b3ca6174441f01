// SPDX-License-Identifier: GPL-2.0
#include "measure.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace rsmperf {

namespace {

using Clock = std::chrono::steady_clock;

double elapsed_ns(Clock::time_point since) {
    return std::chrono::duration<double, std::nano>(Clock::now() - since).count();
}

// The least time between two readings of the clock, which each sample contains.
double clock_ns() {
    double least = 1e9;
    for (int at = 0; at < 1000; at++) {
        least = std::min(least, elapsed_ns(Clock::now()));
    }
    return std::max(least, 1.0);
}

// So many operations that the clock's part of a sample is below 4 %.
std::size_t operations_per_sample(double operation_ns) {
    static const double least_ns = 25 * clock_ns();
    return static_cast<std::size_t>(std::max(std::ceil(least_ns / operation_ns), 1.0));
}

// Samples until there are as many as asked for, or batch_ms is over.
void take_samples(const Settings &settings, const Batch &batch, Samples &to) {
    const auto start = Clock::now();
    for (unsigned taken = 0; taken < settings.samples; taken++) {
        to.ns.push_back(time_batch(batch, to.operations_per_sample));
        if (elapsed_ns(start) > settings.batch_ms * 1e6) {
            return;
        }
    }
}

} // namespace

Round batches(const Settings &settings, const Batch &batch) {
    const auto count = calibrate(settings, batch);
    return [&settings, batch, count](Samples &to) {
        const double mean = time_batch(batch, count);
        to.best_ns = std::min(to.best_ns, mean);
        to.operations_per_sample = std::max(to.operations_per_sample, operations_per_sample(mean));
        take_samples(settings, batch, to);
    };
}

Round single(std::function<double()> time) {
    return [time = std::move(time)](Samples &to) { to.add(time()); };
}

Times in_turns(const Settings &settings, const Round &figure, const Round &floor) {
    Times times;
    for (unsigned round = 0; round < settings.rounds; round++) {
        floor(times.floor);
        figure(times.figure);
    }
    return times;
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
    const auto floors = batches(settings, floor);
    return in_turns(settings, batches(settings, figure), floors);
}

Times compare_single(const Settings &settings, const Batch &figure, const Batch &floor) {
    floor(1);
    figure(1);
    return in_turns(settings, single([&] { return time_batch(figure, 1); }),
                    single([&] { return time_batch(floor, 1); }));
}

} // namespace rsmperf
