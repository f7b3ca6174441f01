// SPDX-License-Identifier: GPL-2.0
#include "units.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <limits>
#include <span>
#include <stdexcept>
#include <string_view>

namespace rsmperf {

namespace {

constexpr std::size_t most = std::numeric_limits<std::size_t>::max();

[[noreturn]] void refuse(const std::string &text, const char *reason) {
    throw std::invalid_argument("'" + text + "' " + reason);
}

// The unit behind the digits, as a power of 1024; -1: nonsense.
int power_of(std::string_view unit) {
    const std::string_view units = "KMG";
    if (unit.empty() || unit == "B") {
        return 0;
    }
    const auto power = units.find(static_cast<char>(unit[0] & ~0x20));
    const auto rest = unit.substr(1);
    const bool known = rest.empty() || rest == "B" || rest == "iB";
    return power == std::string_view::npos || !known ? -1 : static_cast<int>(power) + 1;
}

std::vector<std::string> split(const std::string &text, char separator) {
    std::vector<std::string> parts;
    std::size_t start = 0;
    for (auto end = text.find(separator); end != std::string::npos;
         end = text.find(separator, start)) {
        parts.push_back(text.substr(start, end - start));
        start = end + 1;
    }
    parts.push_back(text.substr(start));
    return parts;
}

// The last is part of the list, also where no step meets it.
void append_range(std::vector<std::size_t> &list, const std::string &text) {
    const auto parts = split(text, ':');
    if (parts.size() > 3) {
        refuse(text, "is not a range: write FIRST:LAST or FIRST:LAST:FACTOR");
    }
    const auto first = parse_size(parts[0]);
    const auto last = parts.size() > 1 ? parse_size(parts[1]) : first;
    const auto factor = parts.size() > 2 ? parse_size(parts[2]) : 2;
    if (first == 0 || first > last) {
        refuse(text, "is not a range: numbers are above 0, and the first is not above the last");
    }
    if (factor < 2) {
        refuse(text, "is not a range: its factor is at least 2");
    }
    for (auto value = first; value < last; value *= factor) {
        list.push_back(value);
        if (value > last / factor) {
            break;
        }
    }
    list.push_back(last);
}

// The value in the first unit that keeps it below 1000, with three digits.
std::string scaled_text(double value, std::span<const char *const> units) {
    std::size_t unit = 0;
    while (value >= 999.5 && unit + 1 < units.size()) {
        value /= 1000;
        unit++;
    }
    const char *format = value < 9.995 ? "%.2f %s" : value < 99.95 ? "%.1f %s" : "%.0f %s";
    std::array<char, 48> text{};
    (void)std::snprintf(text.data(), text.size(), format, value, units[unit]);
    return text.data();
}

// Bytes that continue a character of UTF-8 take no column.
std::size_t columns(const std::string &text) {
    return static_cast<std::size_t>(std::ranges::count_if(
        text, [](char byte) { return (static_cast<unsigned char>(byte) & 0xc0) != 0x80; }));
}

std::string blanks(const std::string &text, std::size_t width) {
    const auto taken = columns(text);
    std::string spaces(width > taken ? width - taken : 0, ' ');
    return spaces;
}

} // namespace

std::size_t parse_size(const std::string &text) {
    std::size_t value = 0;
    const char *end = text.data() + text.size();
    const auto digits = std::from_chars(text.data(), end, value);
    if (digits.ec == std::errc::result_out_of_range) {
        refuse(text, "is too large");
    }
    const int power = digits.ec == std::errc() ? power_of({digits.ptr, end}) : -1;
    if (power < 0) {
        refuse(text, "is not a size: write digits, and K, M or G behind them");
    }
    for (int at = 0; at < power; at++) {
        if (value > most / 1024) {
            refuse(text, "is too large");
        }
        value *= 1024;
    }
    return value;
}

std::vector<std::size_t> parse_list(const std::string &text) {
    std::vector<std::size_t> list;
    for (const auto &part : split(text, ',')) {
        append_range(list, part);
    }
    std::ranges::sort(list);
    const auto repeated = std::unique(list.begin(), list.end());
    list.erase(repeated, list.end());
    return list;
}

std::string size_text(std::size_t size) {
    const std::string units = "KMG";
    std::string unit;
    for (const char next : units) {
        if (size < 1024 || size % 1024 != 0) {
            break;
        }
        size /= 1024;
        unit = next;
    }
    return std::to_string(size) + unit;
}

std::string time_text(double ns) {
    static constexpr std::array units{"ns", "µs", "ms", "s"};
    return scaled_text(ns, units);
}

std::string rate_text(std::size_t bytes, double ns) {
    static constexpr std::array units{"B/s", "KB/s", "MB/s", "GB/s", "TB/s"};
    return scaled_text(static_cast<double>(bytes) / ns * 1e9, units);
}

std::string padded_left(const std::string &text, std::size_t width) {
    return blanks(text, width) + text;
}

std::string padded_right(const std::string &text, std::size_t width) {
    return text + blanks(text, width);
}

} // namespace rsmperf
