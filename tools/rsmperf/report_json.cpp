// SPDX-License-Identifier: GPL-2.0
// The report for programs: all samples, and what they were taken on.
#include <array>
#include <cmath>
#include <ctime>
#include <fstream>

#include <nlohmann/json.hpp>
#include <sys/utsname.h>
#include <unistd.h>

#include "report.hpp"

namespace rsmperf {

namespace {

using nlohmann::json;

std::string now_text() {
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    gmtime_r(&now, &parts);
    std::array<char, 32> text{};
    (void)std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
    return text.data();
}

// The text behind a word and a colon in a file of /proc.
std::string value_in(const char *path, const std::string &word) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        const auto colon = line.find(": ");
        if (line.starts_with(word) && colon != std::string::npos) {
            return line.substr(colon + 2);
        }
    }
    return {};
}

std::string first_line(const char *path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

json versions() {
    json result = {{"rsmperf", RSMPERF_VERSION}, {"compiler", __VERSION__}};
    const auto module = first_line("/sys/module/rsm/version");
    if (!module.empty()) {
        result["rsm.ko"] = module;
    }
    return result;
}

// A tenth of a nanosecond is less than any clock resolves.
json rounded(const std::vector<double> &samples) {
    json list = json::array();
    for (const double sample : samples) {
        list.push_back(std::round(sample * 10) / 10);
    }
    return list;
}

json side(const Samples &samples) {
    const auto summary = summarise(samples);
    json result = {{"min_ns", summary.minimum},
                   {"operations_per_sample", samples.operations_per_sample},
                   {"samples_ns", rounded(samples.ns)}};
    const auto add = [&result](const char *name, const std::optional<double> &value) {
        if (value) {
            result[name] = *value;
        }
    };
    add("median_ns", summary.median);
    add("p99_ns", summary.p99);
    add("p99.9_ns", summary.p999);
    return result;
}

json parameters(const Point &point) {
    json result = json::object();
    for (const auto &axis : axes_of_points) {
        if (point.*axis.value > 0) {
            result[axis.name] = point.*axis.value;
        }
    }
    return result;
}

json entry_of(const Result &result) {
    json entry = {{"name", result.name()},
                  {"figure", result.row.figure},
                  {"floor", result.row.floor},
                  {"parameters", parameters(result.point)},
                  {"verdict", result.verdict()}};
    if (result.row.at_most) {
        entry["at_most"] = *result.row.at_most;
    }
    if (!result.measured()) {
        entry["error"] = result.error;
        return entry;
    }
    entry["figure_ns"] = result.times.figure.best_ns;
    entry["floor_ns"] = result.times.floor.best_ns;
    entry["ratio"] = result.ratio();
    entry["figure_times"] = side(result.times.figure);
    entry["floor_times"] = side(result.times.floor);
    return entry;
}

} // namespace

void print_json(std::ostream &to, const Settings &settings, const std::vector<Result> &results) {
    utsname system{};
    uname(&system);
    const json document = {{"format", 2},
                           {"date", now_text()},
                           {"host", system.nodename},
                           {"machine", system.machine},
                           {"processor", value_in("/proc/cpuinfo", "model name")},
                           {"processors", sysconf(_SC_NPROCESSORS_ONLN)},
                           {"kernel", system.release},
                           {"device", settings.native ? "fake" : "rsm.ko"},
                           {"versions", versions()},
                           {"processes", settings.processes},
                           {"rounds", settings.rounds},
                           {"batch_ms", settings.batch_ms}};
    // One figure a line: samples in a column would be all that people see.
    to << "{\n";
    for (const auto &[name, value] : document.items()) {
        to << json(name) << ": " << value << ",\n";
    }
    to << "\"figures\": [";
    for (std::size_t at = 0; at < results.size(); at++) {
        to << (at > 0 ? ",\n" : "\n") << entry_of(results[at]);
    }
    to << "\n]}\n";
}

} // namespace rsmperf
