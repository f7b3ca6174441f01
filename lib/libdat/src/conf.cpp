// SPDX-License-Identifier: MIT
#include "conf.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <set>

#include "debug.h"
#include "tokenizer.h"

namespace dat {
namespace {

enum Field {
    ia_name,
    api_version,
    thread_safety,
    default_version,
    library_path,
    provider_version,
    ia_params,
    platform_params,
    fields
};

// The terminating zero has to fit into DAT_PROVIDER_INFO.
constexpr std::size_t longest_name = 255;

struct ApiVersion {
    bool user;
    std::uint32_t major_part;
    std::uint32_t minor_part;
};

std::optional<std::uint32_t> parse_number(std::string_view digits) {
    std::uint32_t value = 0;
    const auto *end = digits.data() + digits.size();
    const auto result = std::from_chars(digits.data(), end, value);
    if (result.ec != std::errc() || result.ptr != end)
        return std::nullopt;
    return value;
}

std::optional<bool> parse_keyword(std::string_view word, std::string_view yes,
                                  std::string_view no) {
    if (word != yes && word != no)
        return std::nullopt;
    return word == yes;
}

std::optional<ApiVersion> parse_api_version(std::string_view text) {
    if (!text.starts_with('u') && !text.starts_with('k'))
        return std::nullopt;
    const auto dot = text.find('.');
    if (dot == std::string_view::npos)
        return std::nullopt;
    const auto major_part = parse_number(text.substr(1, dot - 1));
    const auto minor_part = parse_number(text.substr(dot + 1));
    if (!major_part || !minor_part)
        return std::nullopt;
    return ApiVersion{text.front() == 'u', *major_part, *minor_part};
}

// id.major.minor, of which nothing is used.
bool is_provider_version(std::string_view text) {
    const auto first = text.find('.');
    const auto last = text.rfind('.');
    return first != 0 && first != last && parse_number(text.substr(last + 1)) &&
           parse_number(text.substr(first + 1, last - first - 1));
}

enum class Use { load, leave, drop };

// Ignores valid lines that are not for this library.
Use read_record(std::vector<std::string> &field, ConfRecord &record) {
    if (field.size() != fields || field[ia_name].size() > longest_name ||
        field[library_path].empty() || !is_provider_version(field[provider_version]))
        return Use::drop;
    const auto version = parse_api_version(field[api_version]);
    const auto safe = parse_keyword(field[thread_safety], "threadsafe", "nonthreadsafe");
    const auto wanted = parse_keyword(field[default_version], "default", "nondefault");
    if (!version || !safe || !wanted)
        return Use::drop;
    record.key = {std::move(field[ia_name]), version->major_part, version->minor_part, *safe};
    record.library = std::move(field[library_path]);
    record.parameters = std::move(field[ia_params]);
    return version->user && *wanted ? Use::load : Use::leave;
}

Use read_line(std::string_view line, ConfRecord &record) {
    auto field = split_fields(line, fields + 1);
    if (field && field->empty())
        return Use::leave;
    return field ? read_record(*field, record) : Use::drop;
}

void say_dropped(std::size_t number, std::string_view why) noexcept {
    std::array<char, 24> digits{};
    const auto *end = std::to_chars(digits.begin(), digits.end(), number).ptr;
    debug(Debug::static_registry,
          {"dat.conf: line ", {digits.data(), static_cast<std::size_t>(end - digits.data())}, why});
}

} // namespace

std::vector<ConfRecord> parse_conf(std::string_view text) {
    std::vector<ConfRecord> records;
    std::set<Key> seen;
    for (std::size_t number = 1; !text.empty(); ++number) {
        const auto line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        ConfRecord record;
        const auto use = read_line(line, record);
        if (use == Use::drop)
            say_dropped(number, ": not a record of eight valid fields, ignored");
        if (use != Use::load)
            continue;
        if (seen.insert(record.key).second)
            records.push_back(std::move(record));
        else
            say_dropped(number, ": an earlier line has the same name and version, ignored");
    }
    return records;
}

} // namespace dat
