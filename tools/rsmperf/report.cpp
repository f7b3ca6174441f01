// SPDX-License-Identifier: GPL-2.0
#include "report.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <iostream>

#include "units.hpp"

namespace rsmperf {

namespace {

std::string number_text(const char *format, double number) {
    std::array<char, 48> text{};
    (void)std::snprintf(text.data(), text.size(), format, number);
    return text.data();
}

std::string optional_time(const std::optional<double> &ns) {
    return ns ? time_text(*ns) : "-";
}

std::string limit_text(const Row &row) {
    return row.at_most ? number_text("%.3g", *row.at_most) : "-";
}

// Lists of what the figure is measured with: size 8,64,4K.
std::string lists_text(const Axes &axes) {
    std::string text;
    for (const auto &axis : axes_of_points) {
        const auto &list = axes.*axis.list;
        for (std::size_t at = 0; at < list.size(); at++) {
            text += at > 0 ? "," : (text.empty() ? "" : "; ") + (axis.name + std::string(" "));
            text += size_text(list[at]);
        }
    }
    return text;
}

// A column of the table: its head, its width, and its text of a result.
struct Column {
    const char *head;
    std::size_t width;
    std::function<std::string(const Result &, const Summary &)> text;
};

std::string throughput(const Result &result, const Summary &summary) {
    return result.point.size > 0 ? rate_text(result.point.size, summary.minimum) : "-";
}

std::vector<Column> columns() {
    return {
        {"minimum", 9, [](auto &, auto &summary) { return time_text(summary.minimum); }},
        {"median", 9, [](auto &, auto &summary) { return optional_time(summary.median); }},
        {"p99", 9, [](auto &, auto &summary) { return optional_time(summary.p99); }},
        {"p99.9", 9, [](auto &, auto &summary) { return optional_time(summary.p999); }},
        {"rate", 9, throughput},
        {"floor", 9, [](auto &result, auto &) { return time_text(result.times.floor.best_ns); }},
        {"ratio", 8, [](auto &result, auto &) { return number_text("%.3f", result.ratio()); }},
        {"at most", 7, [](auto &result, auto &) { return limit_text(result.row); }},
    };
}

std::size_t name_width(const std::vector<Result> &results) {
    std::size_t width = 15;
    for (const auto &result : results) {
        width = std::max(width, result.name().size());
    }
    return width;
}

std::string line_of(const Result &result, const std::vector<Column> &all) {
    if (!result.measured()) {
        return " error: " + result.error;
    }
    std::string line;
    const auto summary = summarise(result.times.figure);
    for (const auto &column : all) {
        line += " " + padded_left(column.text(result, summary), column.width);
    }
    return line + "  " + result.verdict();
}

// A field that a comma or a quotation mark does not break.
std::string csv_field(const std::string &text) {
    if (text.find_first_of(",\"\n") == std::string::npos) {
        return text;
    }
    std::string quoted = "\"";
    for (const char character : text) {
        quoted += character == '"' ? "\"\"" : std::string(1, character);
    }
    return quoted + "\"";
}

std::string csv_number(const std::optional<double> &number) {
    return number ? number_text("%.6g", *number) : "";
}

void csv_side(std::ostream &to, const Samples &samples) {
    const auto summary = summarise(samples);
    to << ',' << csv_number(summary.minimum) << ',' << csv_number(summary.median) << ','
       << csv_number(summary.p99) << ',' << csv_number(summary.p999);
}

void csv_line(std::ostream &to, const Result &result) {
    to << result.row.name;
    for (const auto &axis : axes_of_points) {
        const auto value = result.point.*axis.value;
        to << ',' << (value > 0 ? std::to_string(value) : "");
    }
    to << ',' << csv_field(result.row.figure) << ',' << csv_field(result.row.floor);
    if (result.measured()) {
        csv_side(to, result.times.figure);
        csv_side(to, result.times.floor);
        to << ',' << csv_number(result.ratio());
    } else {
        to << ",,,,,,,,,";
    }
    to << ',' << csv_number(result.row.at_most) << ',' << result.verdict() << ','
       << csv_field(result.error) << '\n';
}

} // namespace

const char *Result::verdict() const {
    if (!measured()) {
        return "error";
    }
    if (!row.at_most) {
        return "reported";
    }
    return passed() ? "pass" : "miss";
}

void print_list(const std::vector<Row> &rows) {
    for (const auto &row : rows) {
        const auto lists = lists_text(row.axes);
        std::printf("%-20s %s\n%-20s   against %s, at most %s\n", row.name.c_str(),
                    row.figure.c_str(), "", row.floor.c_str(), limit_text(row).c_str());
        if (!lists.empty()) {
            std::printf("%-20s   %s\n", "", lists.c_str());
        }
    }
}

void print_table(const std::vector<Result> &results) {
    const auto all = columns();
    const auto width = name_width(results);
    std::string heads = padded_right("name", width);
    for (const auto &column : all) {
        heads += " " + padded_left(column.head, column.width);
    }
    std::cout << heads << '\n';
    for (const auto &result : results) {
        std::cout << padded_right(result.name(), width) << line_of(result, all) << '\n';
    }
    std::cout << "minimum: the best mean of a batch of calls; the others are of single calls, so a "
                 "median can be smaller\n";
    if (std::ranges::any_of(results,
                            [](auto &result) { return result.measured() && !result.passed(); })) {
        std::cout << "miss: a ratio above what this project wants; busy and emulated machines "
                     "cause some, and nothing is broken\n";
    }
}

void print_csv(std::ostream &to, const std::vector<Result> &results) {
    to << "name";
    for (const auto &axis : axes_of_points) {
        to << ',' << axis.name;
    }
    to << ",figure,floor";
    for (const char *side : {"figure", "floor"}) {
        for (const char *value : {"min", "median", "p99", "p99.9"}) {
            to << ',' << side << '_' << value << "_ns";
        }
    }
    to << ",ratio,at_most,verdict,error\n";
    for (const auto &result : results) {
        csv_line(to, result);
    }
}

} // namespace rsmperf
