// SPDX-License-Identifier: MIT
// What a registry entry is known by.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

namespace dat {

struct Key {
    std::string name;
    std::uint32_t version_major = 0;
    std::uint32_t version_minor = 0;
    bool thread_safe = false;

    auto operator<=>(const Key &) const = default; // NOLINT: of what the compiler makes of it
};

} // namespace dat
