// SPDX-License-Identifier: GPL-2.0
#include "colour.hpp"

#include <array>
#include <cstdlib>

#include <unistd.h>

namespace rsmctl {

namespace {

std::string_view variable(const char *name) {
    const char *value = std::getenv(name);
    return value == nullptr ? std::string_view() : value;
}

// Colours that are legible on a dark and on a light ground.
const char *code_of(Tint tint) {
    constexpr std::array codes{"", "\x1b[1m", "\x1b[32m", "\x1b[33m", "\x1b[1;31m"};
    return codes.at(static_cast<std::size_t>(tint));
}

} // namespace

Colours colours_for(ColourWhen when, const Sink &sink) {
    const bool fits = sink.is_terminal && sink.no_color.empty() && sink.term != "dumb";
    const bool wanted = when == ColourWhen::always || (when == ColourWhen::automatic && fits);
    return wanted ? Colours::on : Colours::off;
}

Colours output_colours(ColourWhen when) {
    return colours_for(when, {.is_terminal = isatty(STDOUT_FILENO) == 1,
                              .no_color = variable("NO_COLOR"),
                              .term = variable("TERM")});
}

std::string tinted(const std::string &text, Tint tint, Colours colours) {
    const auto first = text.find_first_not_of(' ');
    if (colours == Colours::off || tint == Tint::none || first == std::string::npos) {
        return text;
    }
    const auto end = text.find_last_not_of(' ') + 1;
    return text.substr(0, first) + code_of(tint) + text.substr(first, end - first) + "\x1b[0m" +
           text.substr(end);
}

} // namespace rsmctl
