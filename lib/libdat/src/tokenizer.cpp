// SPDX-License-Identifier: MIT
#include "tokenizer.h"

#include <algorithm>

namespace dat {
namespace {

constexpr std::string_view blanks = " \t";

void skip_blanks(std::string_view &text) {
    text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
}

// Up to the closing quote; the text begins behind the opening one. A backslash
// makes an ordinary character of the next one, be it a backslash.
bool take_quoted(std::string_view &text, std::string &field) {
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '"') {
            text.remove_prefix(i + 1);
            return true;
        }
        if (text[i] == '\\' && ++i == text.size())
            return false;
        field += text[i];
    }
    return false;
}

// Up to a blank, or up to and with a quote. A backslash keeps a quote from
// ending the field, and stays.
void take_plain(std::string_view &text, std::string &field) {
    std::size_t end = 0;
    while (end < text.size() && blanks.find(text[end]) == std::string_view::npos) {
        const char c = text[end++];
        if (c == '"')
            break;
        if (c == '\\' && end < text.size() && (text[end] == '"' || text[end] == '\\'))
            ++end;
    }
    field = text.substr(0, end);
    text.remove_prefix(end);
}

bool take_field(std::string_view &text, std::string &field) {
    if (!text.starts_with('"')) {
        take_plain(text, field);
        return true;
    }
    text.remove_prefix(1);
    return take_quoted(text, field);
}

} // namespace

std::optional<std::vector<std::string>> split_fields(std::string_view line, std::size_t limit) {
    if (line.find('\0') != std::string_view::npos)
        return std::nullopt;
    // A carriage return, in a file written elsewhere, ends the line, too.
    if (line.ends_with('\r'))
        line.remove_suffix(1);
    std::vector<std::string> fields;
    skip_blanks(line);
    while (!line.empty() && !line.starts_with('#') && fields.size() < limit) {
        if (!take_field(line, fields.emplace_back()))
            return std::nullopt;
        skip_blanks(line);
    }
    return fields;
}

} // namespace dat
