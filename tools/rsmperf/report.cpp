// SPDX-License-Identifier: GPL-2.0
#include "report.hpp"

#include <cstdio>
#include <iostream>

#include <nlohmann/json.hpp>
#include <sys/utsname.h>
#include <unistd.h>

namespace rsmperf {

namespace {

// Three digits that mean something, whatever the size.
std::string time_text(double ns) {
    const char *units[] = {"ns", "us", "ms", "s"};
    unsigned unit = 0;
    while (ns >= 1000 && unit < 3) {
        ns /= 1000;
        unit++;
    }
    char text[32];
    (void)std::snprintf(text, sizeof(text),
                        ns < 10    ? "%.2f %s"
                        : ns < 100 ? "%.1f %s"
                                   : "%.0f %s",
                        ns, units[unit]);
    return text;
}

const char *verdict(const Result &result) {
    if (!result.measured()) {
        return "error";
    }
    if (!result.row.at_most) {
        return "reported";
    }
    return result.passed() ? "pass" : "miss";
}

std::string limit_text(const Row &row) {
    char text[32] = "-";
    if (row.at_most) {
        (void)std::snprintf(text, sizeof(text), "%g", *row.at_most);
    }
    return text;
}

} // namespace

void print_list(const std::vector<Row> &rows) {
    for (const auto &row : rows) {
        std::printf("%-15s %s\n%-15s   against %s, at most %s\n", row.name.c_str(),
                    row.figure.c_str(), "", row.floor.c_str(), limit_text(row).c_str());
    }
}

void print_table(const std::vector<Result> &results) {
    std::printf("%-15s %10s %10s %8s %8s\n", "name", "time", "floor", "ratio", "at most");
    for (const auto &result : results) {
        if (!result.measured()) {
            std::printf("%-15s error: %s\n", result.row.name.c_str(), result.error.c_str());
            continue;
        }
        std::printf("%-15s %10s %10s %8.3f %8s  %s\n", result.row.name.c_str(),
                    time_text(result.times.figure_ns).c_str(),
                    time_text(result.times.floor_ns).c_str(), result.ratio(),
                    limit_text(result.row).c_str(), verdict(result));
    }
}

void print_json(const Settings &settings, const std::vector<Result> &results) {
    utsname system{};
    uname(&system);
    nlohmann::json document = {{"kernel", system.release},
                               {"processors", sysconf(_SC_NPROCESSORS_ONLN)},
                               {"processes", settings.processes},
                               {"rounds", settings.rounds},
                               {"figures", nlohmann::json::array()}};

    for (const auto &result : results) {
        nlohmann::json entry = {{"name", result.row.name},
                                {"figure", result.row.figure},
                                {"floor", result.row.floor},
                                {"verdict", verdict(result)}};
        if (result.row.at_most) {
            entry["at_most"] = *result.row.at_most;
        }
        if (result.measured()) {
            entry["figure_ns"] = result.times.figure_ns;
            entry["floor_ns"] = result.times.floor_ns;
            entry["ratio"] = result.ratio();
        } else {
            entry["error"] = result.error;
        }
        document["figures"].push_back(entry);
    }
    std::cout << document.dump(2) << '\n';
}

} // namespace rsmperf
