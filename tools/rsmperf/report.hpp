// SPDX-License-Identifier: GPL-2.0
// How figures are shown.
#pragma once

#include <cstdio>
#include <ostream>
#include <string>
#include <vector>

#include "measure.hpp"

namespace rsmperf {

struct Result {
    Row row;
    Point point;
    Times times;
    std::string error; // empty unless the figure could not be taken

    [[nodiscard]] std::string name() const { return label(row.name, point); }
    [[nodiscard]] double ratio() const { return times.figure.best_ns / times.floor.best_ns; }
    [[nodiscard]] bool measured() const { return error.empty(); }
    [[nodiscard]] bool passed() const {
        return measured() && (!row.at_most || ratio() <= *row.at_most);
    }
    // "pass", "miss", "reported" or "error".
    [[nodiscard]] const char *verdict() const;
};

void print_list(const std::vector<Row> &rows);
void print_table(const std::vector<Result> &results);
void print_csv(std::ostream &to, const std::vector<Result> &results);
void print_json(std::ostream &to, const Settings &settings, const std::vector<Result> &results);

} // namespace rsmperf
