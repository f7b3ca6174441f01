// SPDX-License-Identifier: MIT
#include "segmentid.h"

#include "api.h"
#include <array>
#include <charconv>
#include <cstdlib>
#include <memory>
#include <optional>

#include "text.h"

namespace rsm {
namespace {

constexpr std::string_view blanks = " \t\r\n\v\f";

constexpr SegmentIdRange bad_conf{RSMERR_BAD_CONF, 0, 0};

enum Field { keyword, application_id, base_id, id_count, fields };

using Fields = std::array<std::string_view, fields>;

struct Free {
    void operator()(char *pointer) const noexcept { std::free(pointer); }
};

// Takes the next word off the text. Empty at its end.
std::string_view take_word(std::string_view &text) {
    text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
    const auto word = text.substr(0, text.find_first_of(blanks));
    text.remove_prefix(word.size());
    return word;
}

std::optional<Fields> split(std::string_view line) {
    Fields words;
    for (auto &word : words) {
        word = take_word(line);
        if (word.empty())
            return std::nullopt;
    }
    return words;
}

bool is_comment(std::string_view line) {
    return take_word(line).starts_with('#');
}

std::optional<std::uint32_t> parse_number(std::string_view digits, int radix) {
    if (radix == 16 && (digits.starts_with("0x") || digits.starts_with("0X")))
        digits.remove_prefix(2);
    std::uint32_t value = 0;
    const auto *end = digits.data() + digits.size();
    const auto result = std::from_chars(digits.data(), end, value, radix);
    if (result.ec != std::errc() || result.ptr != end)
        return std::nullopt;
    return value;
}

SegmentIdRange parse_reservation(const Fields &words) {
    // The guide says "reserve", the manual page's example "reserved".
    if (!equal_ignoring_case(words[keyword], "reserve") &&
        !equal_ignoring_case(words[keyword], "reserved"))
        return bad_conf;
    const auto base = parse_number(words[base_id], 16);
    const auto length = parse_number(words[id_count], 10);
    if (!base || !length)
        return bad_conf;
    return {RSM_SUCCESS, *base, *length};
}

} // namespace

SegmentIdRange find_segment_id_range(std::FILE *file, std::string_view application) {
    std::unique_ptr<char, Free> line;
    std::size_t capacity = 0;
    for (;;) {
        char *buffer = line.release();
        const auto length = ::getline(&buffer, &capacity, file);
        line.reset(buffer);
        if (length < 0)
            break;
        const std::string_view text(buffer, static_cast<std::size_t>(length));
        if (is_comment(text))
            continue;
        const auto words = split(text);
        if (!words)
            return bad_conf;
        if (equal_ignoring_case((*words)[application_id], application))
            return parse_reservation(*words);
    }
    // getline() also ends without memory, which sets no flag on the stream.
    return {std::feof(file) != 0 ? RSMERR_BAD_APPID : RSMERR_BAD_CONF, 0, 0};
}

} // namespace rsm
