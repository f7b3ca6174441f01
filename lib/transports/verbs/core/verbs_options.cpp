// SPDX-License-Identifier: MIT
#include "core/verbs_options.h"

#include "engine/core/words.h"

#include <charconv>

namespace rsmdat {

namespace {

bool parse_port(std::string_view value, std::uint8_t &port) noexcept {
    const char *end = value.data() + value.size();
    const auto [rest, error] = std::from_chars(value.data(), end, port);
    return error == std::errc() && rest == end && port != 0;
}

bool set(VerbsOptions &options, std::string_view name, std::string_view value) {
    if (name == "device")
        options.device = value;
    else
        return name == "port" && parse_port(value, options.port);
    return !value.empty();
}

} // namespace

std::optional<VerbsOptions> parse_verbs_options(std::string_view text) {
    VerbsOptions options;
    const auto set_one = [&](std::string_view name, std::string_view value) {
        return set(options, name, value);
    };
    return each_option(text, set_one) ? std::optional(options) : std::nullopt;
}

} // namespace rsmdat
