// SPDX-License-Identifier: GPL-2.0
// An earlier report beside this one.
#pragma once

#include <istream>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "report.hpp"

namespace rsmperf {

// Ratios by name, out of a report in JSON. Throws std::runtime_error when it is none.
std::map<std::string, double> earlier_ratios(std::istream &report);

// So many times the earlier ratio is called worse.
inline constexpr double tolerance = 1.1;

// Prints both ratios of each figure, and names what got worse. True if nothing did.
bool print_comparison(std::ostream &to, const std::map<std::string, double> &earlier,
                      const std::vector<Result> &results);

} // namespace rsmperf
