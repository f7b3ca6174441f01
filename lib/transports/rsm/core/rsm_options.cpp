// SPDX-License-Identifier: MIT
#include "core/rsm_options.h"

#include "engine/core/options.h"

#include <bit>
#include <charconv>

namespace rsmengine {

namespace {

constexpr std::size_t LEAST_RING = 4096;
constexpr std::size_t LARGEST_RING = 1048576;

bool parse_ring(std::string_view value, std::size_t &ring) noexcept {
    const char *end = value.data() + value.size();
    const auto [rest, error] = std::from_chars(value.data(), end, ring);
    return error == std::errc() && rest == end && std::has_single_bit(ring) && ring >= LEAST_RING &&
           ring <= LARGEST_RING;
}

bool set(RsmOptions &options, std::string_view name, std::string_view value) {
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

std::optional<RsmOptions> parse_rsm_options(std::string_view text) {
    RsmOptions options;
    const auto set_one = [&](std::string_view name, std::string_view value) {
        return set(options, name, value);
    };
    return each_option(text, set_one) ? std::optional(options) : std::nullopt;
}

} // namespace rsmengine
