// SPDX-License-Identifier: GPL-2.0
// The segments that the guests publish to each other, as both programs know them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hostile {

// The node that window-mutator pretends to be, besides those of the guests.
constexpr std::uint32_t stranger_node = 3;
// The node that window-mutator is after a sweep.
constexpr std::uint32_t beacon_node = 63;

constexpr std::uint32_t first_id = 0x400000;
constexpr std::uint32_t ids_per_node = 4;
constexpr std::size_t segment_size = 65536;

// Id of a segment that a node publishes.
constexpr std::uint32_t segment_id(std::uint32_t node, std::uint32_t index) {
    return first_id + node * ids_per_node + index;
}

} // namespace hostile
