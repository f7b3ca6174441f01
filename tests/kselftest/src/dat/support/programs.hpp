// SPDX-License-Identifier: GPL-2.0
// Random programs of posts (tests/order) that two processes execute by the public functions: each
// is one side, and one judges the records of both.
#pragma once

#include "dat/support/side.hpp"

namespace rsmtest::dat {

// Consecutive programs, by the first one's seed; each is executed so many times.
struct Programs {
    std::uint64_t seed;
    std::uint64_t count;
    std::uint64_t repeats;

    // As ORDER_SEED, ORDER_PROGRAMS and ORDER_REPEATS want it; else so many, from a random one,
    // once. Prints them.
    static Programs chosen(std::uint64_t usual);
};

// The ends of a connection, in two processes, over which the players talk. No program posts there;
// the IA, the zone and the EVD for arrivals are the programs' as well. The verifier has the active
// side of the programs' connections. Violations are test failures, and so is an exchange that
// breaks off.
void check_programs(Side &talk, const Programs &programs);
void join_programs(Side &talk, const Programs &programs);

} // namespace rsmtest::dat
