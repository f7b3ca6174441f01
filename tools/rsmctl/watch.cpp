// SPDX-License-Identifier: GPL-2.0
#include "watch.hpp"

#include <vector>

namespace rsmctl {

namespace {

constexpr char escape = '\x1b';
constexpr const char *cursor_home = "\x1b[H";
constexpr const char *erase_line_end = "\x1b[K";
constexpr const char *erase_below = "\n\x1b[J";

std::vector<std::string> lines_in(const std::string &text) {
    std::vector<std::string> lines;
    std::size_t at = 0;
    while (at < text.size()) {
        const auto end = text.find('\n', at);
        lines.push_back(text.substr(at, end - at));
        at = end == std::string::npos ? text.size() : end + 1;
    }
    return lines;
}

// The second byte of a character in UTF-8, or a later one.
bool continues_character(char byte) {
    constexpr unsigned char mask = 0xc0;
    constexpr unsigned char mark = 0x80;
    return (static_cast<unsigned char>(byte) & mask) == mark;
}

} // namespace

WatchTime next_due(WatchTime due, Interval interval, WatchTime now) {
    due += interval;
    return due > now ? due : due + (now - due) / interval * interval + interval;
}

void watch(Viewer &viewer, Interval interval, const Listing &list) {
    auto due = viewer.now();
    auto wake = Wake::due;
    while (wake != Wake::quit) {
        viewer.show(list(wake));
        if (wake == Wake::due) {
            due = next_due(due, interval, viewer.now());
        }
        wake = viewer.wait_until(due);
    }
}

std::string clipped(const std::string &line, std::size_t columns) {
    std::string text;
    bool escaped = false;
    std::size_t used = 0;
    for (const char byte : line) {
        escaped = escaped || byte == escape;
        used += escaped || continues_character(byte) ? 0 : 1;
        if (escaped || used <= columns) {
            text += byte;
        }
        escaped = escaped && byte != 'm';
    }
    return text;
}

std::string frame(const std::string &text, ScreenSize size) {
    auto lines = lines_in(text);
    if (lines.size() > size.rows && size.rows > 0) {
        const auto more = lines.size() - size.rows + 1;
        lines.resize(size.rows - 1);
        lines.push_back("(" + std::to_string(more) + " more lines)");
    }
    std::string drawn = cursor_home;
    for (std::size_t at = 0; at < lines.size(); at++) {
        drawn += (at == 0 ? "" : "\n") + clipped(lines[at], size.columns) + erase_line_end;
    }
    return drawn + (lines.size() < size.rows ? erase_below : "");
}

} // namespace rsmctl
