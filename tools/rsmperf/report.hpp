// SPDX-License-Identifier: GPL-2.0
// How figures are shown.
#pragma once

#include <string>
#include <vector>

#include "measure.hpp"

namespace rsmperf {

struct Result {
    Row row;
    Times times;
    std::string error; // empty unless the figure could not be taken

    double ratio() const { return times.figure_ns / times.floor_ns; }
    bool measured() const { return error.empty(); }
    bool passed() const { return measured() && (!row.at_most || ratio() <= *row.at_most); }
};

void print_list(const std::vector<Row> &rows);
void print_table(const std::vector<Result> &results);
void print_json(const Settings &settings, const std::vector<Result> &results);

} // namespace rsmperf
