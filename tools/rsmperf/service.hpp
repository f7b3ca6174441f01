// SPDX-License-Identifier: GPL-2.0
// The other node: it serves a segment, and sends every signal back. By an order in the segment it
// hands its device to the bare doorbell driver until nobody rings any more.
#pragma once

#include <cstdint>

#include "measure.hpp"
#include "memory.hpp"
#include "segment.hpp"

namespace rsmperf {

constexpr rsm_memseg_id_t service_id = 0x600100;
constexpr std::size_t service_size = 2 * MiB;

// Serves until it is killed.
[[noreturn]] void serve(const Settings &settings);

// For the measuring node.

// The way to the other node, once it serves. It needs a while to come, or to come back.
Controller reach_service(const Settings &settings);
// Makes the other node answer doorbells of ours. It is about to when this returns.
void order_doorbells(const Import &service, std::uint32_t own_address);

} // namespace rsmperf
