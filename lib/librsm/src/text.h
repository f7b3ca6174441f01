// SPDX-License-Identifier: MIT
// Text in the C locale, whatever locale the program has chosen.
#pragma once

#include <algorithm>
#include <string_view>

namespace rsm {

constexpr char to_lower(char c) noexcept {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

constexpr bool is_digit(char c) noexcept {
    return c >= '0' && c <= '9';
}

constexpr bool equal_ignoring_case(std::string_view a, std::string_view b) noexcept {
    return std::ranges::equal(a, b, {}, to_lower, to_lower);
}

} // namespace rsm
