// SPDX-License-Identifier: GPL-2.0
// A record of the kernel: attributes in, JSON out, words for people.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "attributes.hpp"

namespace rsmctl {

// In the order of the documentation.
using Json = nlohmann::ordered_json;

// The contents of an attribute, and their form in JSON and for people.
enum class Form {
    number,
    size,        // bytes; people may want a suffix
    limit,       // the same; null, for people "unlimited", where there is none
    identifier,  // a number; hexadecimal for people, as in /etc/rsm/rsm.segmentid
    hexadecimal, // text with 0x, as programs keep 53 bits of a number
    text,
    truth,
    mode,    // permission bits: text, octal
    rights,  // r, w, rw
    choice,  // one of `names`, by number
    flags,   // list of those of `names` whose bits are set
    records, // list of records of `nested`; the attribute is there once for each
};

// One attribute. Programs know it by its key, which never changes.
struct Field {
    int attribute;
    const char *key;
    const char *heading; // of its column; nullptr: it has none
    Form form;
    std::span<const char *const> names = {};
    std::span<const Field> nested = {};
};

// The values of the fields. Other attributes, and those of another size, are passed over: a newer
// kernel may have more to say.
Json read_record(std::span<const Field> fields, Bytes attributes);

// A field for people; "-" if the record doesn't have it. With `human` sizes have a suffix.
std::string shown(const Field &field, const Json &record, bool human);
// 0x600000.
std::string hexadecimal(std::uint64_t number);
// 4096 as "4K", 1536 as "1.5K".
std::string human_size(std::uint64_t bytes);
// Without what would move the cursor, or worse.
std::string printable(std::string_view text);

} // namespace rsmctl
