// SPDX-License-Identifier: GPL-2.0
#include "compare.hpp"

#include <array>
#include <cmath>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "units.hpp"

namespace rsmperf {

namespace {

std::string change_text(double before, double now) {
    std::array<char, 64> text{};
    (void)std::snprintf(text.data(), text.size(), "%8.3f %8.3f %+7.0f %%", before, now,
                        (now / before - 1) * 100);
    return text.data();
}

// Prints a line; true if the figure got worse.
bool compare_one(std::ostream &to, const std::map<std::string, double> &earlier,
                 const Result &result) {
    const auto before = earlier.find(result.name());
    to << padded_right(result.name(), 24) << ' ';
    if (!result.measured()) {
        to << "error: " << result.error << '\n';
        return false;
    }
    if (before == earlier.end()) {
        to << "is not in the earlier report\n";
        return false;
    }
    const bool worse = result.ratio() > before->second * tolerance;
    to << change_text(before->second, result.ratio()) << (worse ? "  worse" : "") << '\n';
    return worse;
}

} // namespace

std::map<std::string, double> earlier_ratios(std::istream &report) {
    std::map<std::string, double> ratios;
    const auto document = nlohmann::json::parse(report, nullptr, false);
    if (!document.is_object() || !document.contains("figures") || !document["figures"].is_array()) {
        throw std::runtime_error("the earlier file is not a report: rsmperf --json writes reports");
    }
    for (const auto &figure : document["figures"]) {
        if (!figure.is_object() || !figure.contains("ratio")) {
            continue; // it could not be taken
        }
        const auto name = figure.value("name", nlohmann::json());
        if (!name.is_string() || !figure["ratio"].is_number()) {
            throw std::runtime_error("the earlier report has a figure without a name or a ratio");
        }
        ratios[name.get<std::string>()] = figure["ratio"].get<double>();
    }
    return ratios;
}

bool print_comparison(std::ostream &to, const std::map<std::string, double> &earlier,
                      const std::vector<Result> &results) {
    std::string worse;
    to << padded_right("ratio", 24) << "   before      now    change\n";
    for (const auto &result : results) {
        if (compare_one(to, earlier, result)) {
            worse += ' ' + result.name();
        }
    }
    if (!worse.empty()) {
        to << "worse by more than a tenth:" << worse << '\n';
    }
    return worse.empty();
}

} // namespace rsmperf
