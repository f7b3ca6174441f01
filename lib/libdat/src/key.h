// SPDX-License-Identifier: MIT
// The key of a registry entry.
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
