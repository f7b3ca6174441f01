// SPDX-License-Identifier: MIT
#include "core/verbs_options.h"

#include "engine/core/options.h"

#include <charconv>

namespace rsmengine {

namespace {

template <class Number>
bool parse(std::string_view value, Number &number) noexcept {
    const char *end = value.data() + value.size();
    const auto [rest, error] = std::from_chars(value.data(), end, number);
    return error == std::errc() && rest == end;
}

bool set(VerbsOptions &options, std::string_view name, std::string_view value) {
    if (name == "inline")
        return parse(value, options.inline_limit);
    if (name == "port")
        return parse(value, options.port) && options.port != 0;
    options.device = value;
    return name == "device" && !value.empty();
}

} // namespace

std::optional<VerbsOptions> parse_verbs_options(std::string_view text) {
    VerbsOptions options;
    const auto set_one = [&](std::string_view name, std::string_view value) {
        return set(options, name, value);
    };
    return each_option(text, set_one) ? std::optional(options) : std::nullopt;
}

} // namespace rsmengine
