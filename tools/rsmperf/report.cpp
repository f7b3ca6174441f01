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
    return result.passed() ? "pass" : "miss";
}

} // namespace

void print_list(const std::vector<Row> &rows) {
    for (const auto &row : rows) {
        std::printf("%-14s %s\n%-14s   against %s, at most %g\n", row.name.c_str(),
                    row.figure.c_str(), "", row.floor.c_str(), row.at_most);
    }
}

void print_table(const std::vector<Result> &results) {
    std::printf("%-14s %10s %10s %8s %8s\n", "name", "time", "floor", "ratio", "at most");
    for (const auto &result : results) {
        if (!result.measured()) {
            std::printf("%-14s error: %s\n", result.row.name.c_str(), result.error.c_str());
            continue;
        }
        std::printf("%-14s %10s %10s %8.3f %8g  %s\n", result.row.name.c_str(),
                    time_text(result.times.figure_ns).c_str(),
                    time_text(result.times.floor_ns).c_str(), result.ratio(), result.row.at_most,
                    verdict(result));
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
                                {"at_most", result.row.at_most},
                                {"verdict", verdict(result)}};
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
