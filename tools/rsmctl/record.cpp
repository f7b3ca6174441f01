// SPDX-License-Identifier: GPL-2.0
#include "record.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <cstring>
#include <functional>
#include <limits>
#include <optional>

namespace rsmctl {

namespace {

constexpr unsigned may_read = 0400;
constexpr unsigned may_write = 0200;

template <typename Number>
std::uint64_t copied(Bytes payload) {
    Number number{};
    std::memcpy(&number, payload.data(), sizeof(number));
    return number;
}

std::optional<std::uint64_t> number_in(Bytes payload) {
    switch (payload.size()) {
    case sizeof(std::uint8_t):
        return copied<std::uint8_t>(payload);
    case sizeof(std::uint16_t):
        return copied<std::uint16_t>(payload);
    case sizeof(std::uint32_t):
        return copied<std::uint32_t>(payload);
    case sizeof(std::uint64_t):
        return copied<std::uint64_t>(payload);
    default:
        return std::nullopt;
    }
}

std::string formatted(const char *format, unsigned long long number) {
    std::array<char, 32> text{};
    (void)std::snprintf(text.data(), text.size(), format, number);
    return text.data();
}

std::string rights_in(std::uint64_t bits) {
    return std::string((bits & may_read) != 0 ? "r" : "") + ((bits & may_write) != 0 ? "w" : "");
}

std::string choice_in(const Field &field, std::uint64_t number) {
    return number < field.names.size() ? field.names[number] : std::to_string(number);
}

Json flags_in(const Field &field, std::uint64_t bits) {
    auto list = Json::array();
    for (; bits != 0; bits &= bits - 1) {
        const auto bit = static_cast<std::size_t>(std::countr_zero(bits));
        const bool known = bit < field.names.size() && field.names[bit] != nullptr;
        list.push_back(known ? field.names[bit] : hexadecimal(std::uint64_t{1} << bit));
    }
    return list;
}

Json json_of(const Field &field, std::uint64_t number) {
    switch (field.form) {
    case Form::limit:
        return number == std::numeric_limits<std::uint64_t>::max() ? Json(nullptr) : Json(number);
    case Form::hexadecimal:
        return hexadecimal(number);
    case Form::truth:
        return number != 0;
    case Form::mode:
        return formatted("%04llo", number);
    case Form::rights:
        return rights_in(number);
    case Form::choice:
        return choice_in(field, number);
    case Form::flags:
        return flags_in(field, number);
    default:
        return number;
    }
}

void read_field(const Field &field, Bytes payload, Json &record) {
    if (field.form == Form::records) {
        record[field.key].push_back(read_record(field.nested, payload));
    } else if (field.form == Form::text) {
        record[field.key] = text_in(payload);
    } else if (const auto number = number_in(payload)) {
        record[field.key] = json_of(field, *number);
    }
}

std::string joined(const Json &list, const char *between,
                   const std::function<std::string(const Json &)> &words) {
    std::string text;
    for (const auto &item : list) {
        text += (text.empty() ? "" : between) + words(item);
    }
    return text.empty() ? "-" : text;
}

// "memlock:3 grants:0".
std::string shown_records(const Field &field, const Json &list, bool human) {
    return joined(list, " ", [&](const Json &record) {
        std::string text;
        for (const auto &nested : field.nested) {
            if (record.contains(nested.key)) {
                text += (text.empty() ? "" : ":") + shown(nested, record, human);
            }
        }
        return text;
    });
}

std::string shown_number(const Field &field, std::uint64_t number, bool human) {
    if (field.form == Form::identifier) {
        return hexadecimal(number);
    }
    const bool bytes = field.form == Form::size || field.form == Form::limit;
    return bytes && human ? human_size(number) : std::to_string(number);
}

std::string shown_text(const std::string &text) {
    return text.empty() ? "-" : printable(text);
}

} // namespace

Json read_record(std::span<const Field> fields, Bytes attributes) {
    auto record = Json::object();
    for (const auto &field : fields) {
        for_each_attribute(attributes, [&](int type, Bytes payload) {
            if (type == field.attribute) {
                read_field(field, payload, record);
            }
        });
    }
    return record;
}

std::string shown(const Field &field, const Json &record, bool human) {
    const auto found = record.find(field.key);
    if (found == record.end()) {
        return "-";
    }
    if (found->is_null()) {
        return "unlimited";
    }
    if (found->is_boolean()) {
        return found->get<bool>() ? "yes" : "no";
    }
    if (found->is_number()) {
        return shown_number(field, found->get<std::uint64_t>(), human);
    }
    if (found->is_string()) {
        return shown_text(found->get<std::string>());
    }
    return field.form == Form::records
               ? shown_records(field, *found, human)
               : joined(*found, ",", [](const Json &name) { return name.get<std::string>(); });
}

std::string hexadecimal(std::uint64_t number) {
    return formatted("0x%llx", number);
}

std::string human_size(std::uint64_t bytes) {
    constexpr std::string_view suffixes = "KMGTPE";
    constexpr double step = 1024;
    constexpr double rounded_to_a_step = 1023.5;
    auto size = static_cast<double>(bytes);
    std::size_t unit = 0;
    for (; size >= rounded_to_a_step && unit < suffixes.size(); unit++) {
        size /= step;
    }
    std::array<char, 32> text{};
    (void)std::snprintf(text.data(), text.size(), "%.4g", size);
    return unit == 0 ? text.data() : std::string(text.data()) + suffixes[unit - 1];
}

std::string printable(std::string_view text) {
    constexpr unsigned char first_printable = 0x20;
    constexpr unsigned char delete_character = 0x7f;
    std::string clean(text);
    std::ranges::replace_if(
        clean,
        [](unsigned char byte) { return byte < first_printable || byte == delete_character; }, '?');
    return clean;
}

} // namespace rsmctl
