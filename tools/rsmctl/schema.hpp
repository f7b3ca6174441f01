// SPDX-License-Identifier: GPL-2.0
// Kinds and events of family `rsm`, as in Documentation/netlink/specs/rsm.yaml.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "record.hpp"

namespace rsmctl {

// A kind of thing, and the command that asks for it. The first field is what it is named by.
struct Kind {
    const char *name;
    std::uint8_t get;
    std::span<const Field> fields;
};

const Kind &kind_of(std::string_view name);
std::span<const Kind> kinds();
// The field with a key, which must be there.
const Field &field_of(std::span<const Field> fields, std::string_view key);

// Something that happens to a thing.
struct Event {
    std::uint8_t command;
    const char *name;
    std::string_view object; // name of the kind, "limit" or "denial"
    std::span<const Field> fields;
};

std::span<const Event> events();

} // namespace rsmctl
