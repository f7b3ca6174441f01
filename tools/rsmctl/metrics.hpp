// SPDX-License-Identifier: GPL-2.0
// rsmctl metrics: the state of this node for a monitoring system.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "options.hpp"
#include "record.hpp"

namespace rsmctl {

// The state that the kernel reports at one time. Segments and imports are empty unless they are
// wanted: their number has no small bound, and each becomes several time series.
struct Snapshot {
    std::vector<Json> controllers;
    std::vector<Json> nodes;
    Json stats;
    std::vector<Json> segments;
    std::vector<Json> imports;
};

// In the text format of OpenMetrics; without a snapshot it says that rsm.ko is not loaded.
std::string metrics_text(const std::optional<Snapshot> &snapshot);

// Asks the kernel, and writes the metrics to standard output or to the file of the options.
void metrics(const Options &options);

} // namespace rsmctl
