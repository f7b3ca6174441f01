// SPDX-License-Identifier: GPL-2.0
// Colours of words on a terminal.
#pragma once

#include <string>
#include <string_view>

namespace rsmctl {

enum class Colours { off, on };
// The user's choice.
enum class ColourWhen { automatic, always, never };

// The destination of the text, and the environment's settings for colours there.
struct Sink {
    bool is_terminal = false;
    std::string_view no_color; // NO_COLOR; empty where it is not set
    std::string_view term;     // TERM
};

Colours colours_for(ColourWhen when, const Sink &sink);
// The same for standard output.
Colours output_colours(ColourWhen when);

// The meaning of a word to its reader.
enum class Tint { none, heading, good, doubtful, bad };

// The text with the colour of the tint. Blanks around the text get no colour: callers trim them.
std::string tinted(const std::string &text, Tint tint, Colours colours);

} // namespace rsmctl
