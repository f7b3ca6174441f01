// SPDX-License-Identifier: GPL-2.0
// Random programs: each seed stands for one, on every machine.
#pragma once

#include "order/model.hpp"

namespace order {

constexpr std::uint32_t main_bytes = 256 * 1024;   // of the arena; registered as one region
constexpr std::uint32_t doomed_bytes = 128 * 1024; // behind them; the program may free this region
constexpr std::uint32_t arena_bytes = main_bytes + doomed_bytes;
constexpr int most_endpoints = 8;
constexpr int most_posts = 48; // of one stream of an endpoint, markers included

Program generate(std::uint64_t seed);

// The seed of the program behind this one.
std::uint64_t next_seed(std::uint64_t seed);

} // namespace order
