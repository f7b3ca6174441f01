// SPDX-License-Identifier: GPL-2.0
// dat.conf: an input is the text of a file.
#include "require.hpp"

#include "conf.h"
#include "tokenizer.h"

#include <algorithm>
#include <set>

namespace {

using dat::ConfRecord;
using rsmtest::fuzz::require;
using Fields = std::vector<std::string>;

constexpr std::size_t LONGEST_NAME = 255;
constexpr std::size_t MORE_FIELDS_THAN_A_RECORD = 9;

std::vector<std::string_view> lines_of(std::string_view text)
{
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        lines.push_back(text.substr(0, text.find('\n')));
        text.remove_prefix(std::min(lines.back().size() + 1, text.size()));
    }
    return lines;
}

std::string quoted(std::string_view field)
{
    std::string result = "\"";
    for (const char c : field) {
        if (c == '"' || c == '\\')
            result += '\\';
        result += c;
    }
    return result + "\" ";
}

std::string line_of(const ConfRecord &record)
{
    const auto &key = record.key;
    return quoted(key.name) + "u" + std::to_string(key.version_major) + "." +
           std::to_string(key.version_minor) + (key.thread_safe ? " " : " non") +
           "threadsafe default " + quoted(record.library) + "a.1.2 " + quoted(record.parameters) +
           "\"\"\n";
}

bool same(const ConfRecord &one, const ConfRecord &other)
{
    return one.key == other.key && one.library == other.library &&
           one.parameters == other.parameters;
}

void check_limits(const ConfRecord &record)
{
    require(record.key.name.size() <= LONGEST_NAME, "a name fits into DAT_PROVIDER_INFO");
    require(!record.library.empty(), "a record names a library");
    for (const auto *text : {&record.key.name, &record.library, &record.parameters})
        require(text->find_first_of(std::string_view("\0\n", 2)) == std::string::npos,
                "a field is a C string of one line");
}

// A line's record depends on no other line, except that the first of a key counts.
void check_lines(const std::vector<std::string_view> &lines, const std::vector<ConfRecord> &records)
{
    std::vector<ConfRecord> alone;
    std::set<dat::Key> seen;
    for (const auto line : lines) {
        const auto found = dat::parse_conf(line);
        require(found.size() <= 1, "a line holds at most one record");
        if (!found.empty() && seen.insert(found.front().key).second)
            alone.push_back(found.front());
    }
    require(std::ranges::equal(alone, records, same), "lines are independent");
}

void check_round_trip(const std::vector<ConfRecord> &records)
{
    std::string text;
    for (const auto &record : records)
        text += line_of(record);
    require(std::ranges::equal(dat::parse_conf(text), records, same),
            "a record that is written down is read again");
}

void check_fields(std::string_view line)
{
    const auto fields = dat::split_fields(line, MORE_FIELDS_THAN_A_RECORD);
    if (!fields)
        return;
    require(fields->size() <= MORE_FIELDS_THAN_A_RECORD, "the limit of fields holds");
    std::string text;
    for (const auto &field : *fields)
        text += quoted(field);
    require(dat::split_fields(text, fields->size() + 1) == fields, "quoted fields are read again");
    const std::size_t fewer = fields->size() / 2;
    require(dat::split_fields(line, fewer) == Fields(fields->begin(), fields->begin() +
                                                     static_cast<std::ptrdiff_t>(fewer)),
            "a smaller limit gives the first fields");
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    const std::string_view text(reinterpret_cast<const char *>(data), size);
    const auto records = dat::parse_conf(text);
    const auto lines = lines_of(text);
    std::ranges::for_each(records, check_limits);
    std::ranges::for_each(lines, check_fields);
    check_lines(lines, records);
    check_round_trip(records);
    return 0;
}
