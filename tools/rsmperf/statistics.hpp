// SPDX-License-Identifier: GPL-2.0
// Minimum and percentiles of a set of times.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <vector>

namespace rsmperf {

// Times of one operation. Operations that take less than some readings of the clock are timed by
// the dozen: then a sample is the mean of so many.
struct Samples {
    double best_ns = std::numeric_limits<double>::infinity(); // of the long batches
    std::size_t operations_per_sample = 1;
    std::vector<double> ns;

    // A time that counts as batch and as sample.
    void add(double time_ns);
    // The same operation, measured elsewhere.
    void merge(const Samples &other);
    // Each time is one of so many operations that were timed together.
    void divide(double by);
};

// Percentiles need so many samples that at least one lies beyond them: else there is none.
struct Summary {
    double minimum = 0; // best_ns
    std::optional<double> median;
    std::optional<double> p99;
    std::optional<double> p999;
};

// By nearest rank: the least sample that is not less than this part of all. The list is sorted, and
// not empty.
double percentile(const std::vector<double> &sorted, double part);

Summary summarise(const Samples &samples);

} // namespace rsmperf
