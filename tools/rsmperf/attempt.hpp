// SPDX-License-Identifier: GPL-2.0
// A figure, measured in several processes.
#pragma once

#include "measure.hpp"
#include "progress.hpp"
#include "report.hpp"

namespace rsmperf {

// The best and the samples of several processes, as each has its memory at other addresses: some
// addresses are slower together than others, and that is not what is to be compared.
Result run(Settings settings, const Row &row, const Point &point, const Progress &progress);

} // namespace rsmperf
