// SPDX-License-Identifier: GPL-2.0
#include "net/support/lines.hpp"

#include <algorithm>
#include <cerrno>
#include <unistd.h>

namespace rsmtest::net {

bool Lines::write(std::string line) {
    line += '\n';
    std::string_view left = line;
    while (!left.empty()) {
        const ssize_t sent = ::write(end_.get(), left.data(), left.size());
        if (sent < 0 && errno != EINTR)
            return false;
        left.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(sent, 0)));
    }
    return true;
}

bool Lines::fill() {
    char buffer[line_max];
    const ssize_t got = ::read(end_.get(), buffer, sizeof(buffer));
    if (got <= 0)
        return got < 0 && errno == EINTR;
    partial_.append(buffer, static_cast<std::size_t>(got));
    for (std::size_t end = 0; (end = partial_.find('\n')) != std::string::npos;) {
        complete_.push_back(partial_.substr(0, end));
        partial_.erase(0, end + 1);
    }
    return true;
}

std::optional<std::string> Lines::next() {
    if (complete_.empty())
        return std::nullopt;
    std::string line = std::move(complete_.front());
    complete_.pop_front();
    return line;
}

std::string_view first_word(std::string_view &text) {
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return word;
}

} // namespace rsmtest::net
