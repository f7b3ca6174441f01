// SPDX-License-Identifier: GPL-2.0
// The answer of a peer: the status of what it was told to do, and data.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rsmtest::net {

// Statuses that are none of RSMAPI's.
inline constexpr int bad_order = -1;     // the order makes no sense
inline constexpr int session_ended = -3; // the process that had the order is gone

struct Answer {
    int status = 0;
    std::vector<std::uint64_t> data = {};
    std::string text = {};

    // One line without the newline, and back.
    std::string line() const;
    static Answer parse(std::string_view line);
    // 0 when there is none
    std::uint64_t value(std::size_t index = 0) const {
        return index < data.size() ? data[index] : 0;
    }
};

// Numbers as a program writes them, 0x and 0 prefixes included.
std::uint64_t to_number(std::string_view word);

} // namespace rsmtest::net
