// SPDX-License-Identifier: MIT
// The options of a provider in dat.conf: words NAME=VALUE with blanks between them.
#pragma once

#include <algorithm>
#include <string_view>

namespace rsmengine {

// The first word of the text, which is cut off; empty at the end.
inline std::string_view next_word(std::string_view &text) noexcept {
    constexpr std::string_view BLANKS = " \t";
    text.remove_prefix(std::min(text.find_first_not_of(BLANKS), text.size()));
    const auto word = text.substr(0, text.find_first_of(BLANKS));
    text.remove_prefix(word.size());
    return word;
}

// Calls set(name, value) for each word, until it returns false; false then, and for a word that is
// no option.
template <class Set>
bool each_option(std::string_view text, Set set) {
    for (auto word = next_word(text); !word.empty(); word = next_word(text)) {
        const auto sign = word.find('=');
        if (sign == std::string_view::npos || !set(word.substr(0, sign), word.substr(sign + 1)))
            return false;
    }
    return true;
}

} // namespace rsmengine
