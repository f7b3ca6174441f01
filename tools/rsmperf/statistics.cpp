// SPDX-License-Identifier: GPL-2.0
#include "statistics.hpp"

#include <algorithm>
#include <cmath>

namespace rsmperf {

void Samples::add(double time_ns) {
    best_ns = std::min(best_ns, time_ns);
    ns.push_back(time_ns);
}

void Samples::merge(const Samples &other) {
    best_ns = std::min(best_ns, other.best_ns);
    operations_per_sample = std::max(operations_per_sample, other.operations_per_sample);
    ns.insert(ns.end(), other.ns.begin(), other.ns.end());
}

void Samples::divide(double by) {
    best_ns /= by;
    for (auto &sample : ns) {
        sample /= by;
    }
}

double percentile(const std::vector<double> &sorted, double part) {
    const auto rank = std::ceil(part * static_cast<double>(sorted.size()));
    const auto at = static_cast<std::size_t>(std::max(rank, 1.0)) - 1;
    return sorted[std::min(at, sorted.size() - 1)];
}

Summary summarise(const Samples &samples) {
    auto sorted = samples.ns;
    std::ranges::sort(sorted);
    const auto from = [&sorted](double part, std::size_t least) -> std::optional<double> {
        if (sorted.size() < least) {
            return std::nullopt;
        }
        return percentile(sorted, part);
    };
    return {samples.best_ns, from(0.5, 1), from(0.99, 100), from(0.999, 1000)};
}

} // namespace rsmperf
