// SPDX-License-Identifier: GPL-2.0
#include "net/support/answer.hpp"

#include "net/support/lines.hpp"

#include <cstdlib>

namespace rsmtest::net {
namespace {

// A line has no newlines; this character stands for them.
constexpr char newline = '\v';

std::string exchanged(std::string text, char from, char to) {
    for (char &c : text)
        c = c == from ? to : c;
    return text;
}

} // namespace

std::uint64_t to_number(std::string_view word) {
    return std::strtoull(std::string(word).c_str(), nullptr, 0);
}

std::string Answer::line() const {
    std::string result = std::to_string(status) + ' ' + std::to_string(data.size());
    for (const std::uint64_t number : data)
        result += ' ' + std::to_string(number);
    result += ' ' + exchanged(text, '\n', newline);
    // Room for the address and the tag that go in front.
    return result.substr(0, line_max - 64);
}

Answer Answer::parse(std::string_view line) {
    Answer answer;
    answer.status = static_cast<int>(to_number(first_word(line)));
    for (std::uint64_t left = to_number(first_word(line)); left > 0; left--)
        answer.data.push_back(to_number(first_word(line)));
    answer.text = exchanged(std::string(line), newline, '\n');
    return answer;
}

} // namespace rsmtest::net
