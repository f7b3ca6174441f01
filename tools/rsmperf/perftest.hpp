// SPDX-License-Identifier: GPL-2.0
// RDMA between two hosts as the programs of perftest measure it: ib_write_lat and its like.
#pragma once

#include "program.hpp"

namespace rsmperf {

// The device on both hosts.
inline constexpr const char *rdma_device = "rxe0";
// Operations under way where bandwidth is measured.
constexpr std::size_t rdma_window = 64;

// Operations in a measurement. The more there is to move the less it matters what a single one
// does.
constexpr std::size_t rdma_iterations(std::size_t size) {
    return size < 16384 ? 1000 : 200;
}

// The server's command line. A test's name ends in _lat or _bw.
Command perftest_server(const std::string &test, std::size_t size);

// Time per operation in ns, the server running at the address: of *_lat half a round trip of a
// write or the whole of a read, of *_bw the share of one operation in the time of many. Throws when
// the program is missing or fails.
double perftest_time(const std::string &test, std::size_t size, const std::string &address);

} // namespace rsmperf
