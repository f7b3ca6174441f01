// SPDX-License-Identifier: MIT
#include "core/options.h"

#include <algorithm>
#include <charconv>

namespace rsmdat {

namespace {

constexpr std::string_view BLANKS = " \t";

// The first word of the text, which is cut off; empty at the end.
std::string_view next_word(std::string_view &text) noexcept {
    text.remove_prefix(std::min(text.find_first_not_of(BLANKS), text.size()));
    const auto word = text.substr(0, text.find_first_of(BLANKS));
    text.remove_prefix(word.size());
    return word;
}

bool parse_port(std::string_view value, std::uint8_t &port) noexcept {
    const char *end = value.data() + value.size();
    const auto [rest, error] = std::from_chars(value.data(), end, port);
    return error == std::errc() && rest == end && port != 0;
}

bool set(Options &options, std::string_view name, std::string_view value) {
    if (name == "device")
        options.device = value;
    else
        return name == "port" && parse_port(value, options.port);
    return !value.empty();
}

} // namespace

std::optional<Options> parse_options(std::string_view text) {
    Options options;
    for (auto word = next_word(text); !word.empty(); word = next_word(text)) {
        const auto sign = word.find('=');
        if (sign == std::string_view::npos ||
            !set(options, word.substr(0, sign), word.substr(sign + 1)))
            return {};
    }
    return options;
}

} // namespace rsmdat
