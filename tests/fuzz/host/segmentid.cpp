// SPDX-License-Identifier: GPL-2.0
// rsm.segmentid: the first line of an input is the application's name, the rest is the file.
#include "require.hpp"

#include "api.h"
#include "segmentid.h"
#include "text.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

namespace {

using rsm::SegmentIdRange;
using rsmtest::fuzz::require;

struct Close {
    void operator()(std::FILE *file) const { std::fclose(file); }
};

// Not fmemopen(): such a stream ends at the first zero byte.
ssize_t read_text(void *rest, char *to, std::size_t size)
{
    auto &text = *static_cast<std::string_view *>(rest);
    const auto count = std::min(size, text.size());
    std::memcpy(to, text.data(), count);
    text.remove_prefix(count);
    return static_cast<ssize_t>(count);
}

SegmentIdRange look_up(std::string_view text, std::string_view application)
{
    const cookie_io_functions_t functions{read_text, nullptr, nullptr, nullptr};
    const std::unique_ptr<std::FILE, Close> file(::fopencookie(&text, "r", functions));
    require(file != nullptr, "there is a stream");
    return rsm::find_segment_id_range(file.get(), application);
}

bool operator==(const SegmentIdRange &one, const SegmentIdRange &other)
{
    return one.status == other.status && one.base == other.base && one.length == other.length;
}

bool is_word(std::string_view text)
{
    return !text.empty() && text.find_first_of(" \t\r\n\v\f") == std::string_view::npos;
}

std::string upper(std::string_view text)
{
    std::string result(text);
    for (char &c : result)
        if (c >= 'a' && c <= 'z')
            c = static_cast<char>(c - 'a' + 'A');
    return result;
}

std::string line_of(std::string_view application, const SegmentIdRange &range)
{
    std::array<char, 32> numbers{};
    std::snprintf(numbers.data(), numbers.size(), " 0x%x %u\n", range.base, range.length);
    return "reserve " + std::string(application) + numbers.data();
}

void check_success(std::string_view text, std::string_view application, const SegmentIdRange &range)
{
    require(is_word(application), "only a word has a line");
    const auto line = line_of(application, range);
    require(look_up(line, application) == range, "a range that is written down is read again");
    require(look_up(line + std::string(text), application) == range, "the first line counts");
}

// A line that has decided decides whatever follows; without one the search goes on.
void check_more_lines(const std::string &text, std::string_view application,
                      const SegmentIdRange &range)
{
    const bool whole = text.empty() || text.ends_with('\n');
    const std::string more = whole ? "" : "\n";
    if (range.status != RSMERR_BAD_APPID)
        require(look_up(text + more + "reserve x\n", application) == range,
                "lines behind the one that decides do not matter");
    else
        require(look_up(text + more + "reserve x\n", application).status == RSMERR_BAD_CONF,
                "without the application's line all lines are read");
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    const std::string_view all(reinterpret_cast<const char *>(data), size);
    const auto application = all.substr(0, all.find('\n'));
    const std::string text(all.substr(std::min(application.size() + 1, size)));
    const auto range = look_up(text, application);
    if (range.status == RSM_SUCCESS)
        check_success(text, application, range);
    else
        require((range.status == RSMERR_BAD_APPID || range.status == RSMERR_BAD_CONF) &&
                    range.base == 0 && range.length == 0,
                "a failure has one of two reasons, and no range");
    require(look_up(text, upper(application)) == range, "case does not matter");
    require(look_up("# reserve\n" + text, application) == range, "a comment changes nothing");
    check_more_lines(text, application, range);
    return 0;
}
