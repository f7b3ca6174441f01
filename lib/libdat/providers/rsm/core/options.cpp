// SPDX-License-Identifier: MIT
#include "core/options.h"

#include <bit>
#include <charconv>

namespace rsmdat {

namespace {

constexpr std::string_view BLANKS = " \t";
constexpr std::size_t LEAST_RING = 4096;
constexpr std::size_t LARGEST_RING = 1048576;

// The first word of the text, which is cut off; empty at the end.
std::string_view next_word(std::string_view &text) noexcept {
    text.remove_prefix(std::min(text.find_first_not_of(BLANKS), text.size()));
    const auto word = text.substr(0, text.find_first_of(BLANKS));
    text.remove_prefix(word.size());
    return word;
}

bool parse_ring(std::string_view value, std::size_t &ring) noexcept {
    const char *end = value.data() + value.size();
    const auto [rest, error] = std::from_chars(value.data(), end, ring);
    return error == std::errc() && rest == end && std::has_single_bit(ring) && ring >= LEAST_RING &&
           ring <= LARGEST_RING;
}

bool set(Options &options, std::string_view name, std::string_view value) {
    if (value.empty())
        return false;
    if (name == "controller")
        options.controller = value;
    else if (name == "nodes")
        options.nodes = value;
    else
        return name == "ring" && parse_ring(value, options.ring);
    return true;
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
