// SPDX-License-Identifier: GPL-2.0
// The text format of OpenMetrics 1.0. Only gauges and counters: Prometheus' older text format, which
// node_exporter reads, knows no other types of it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace rsmctl {

enum class MetricType { gauge, counter };

// The type of a metric family. The unit, if there is one, is the end of the name, such as "bytes".
struct MetricHead {
    std::string name;
    MetricType type = MetricType::gauge;
    std::string unit;
    std::string help;
};

using Labels = std::vector<std::pair<std::string, std::string>>;

// A metric family and its samples.
class MetricFamily {
  public:
    explicit MetricFamily(MetricHead head) : head_(std::move(head)) {}

    // A counter's sample gets the suffix _total.
    void add(const Labels &labels, std::uint64_t value);

    // Empty without samples.
    std::string text() const;

  private:
    MetricHead head_;
    std::string samples_;
};

// All families, and the end mark without which the text is incomplete.
std::string openmetrics_text(const std::vector<MetricFamily> &families);

} // namespace rsmctl
