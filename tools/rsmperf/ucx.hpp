// SPDX-License-Identifier: GPL-2.0
// UCX over POSIX shared memory, as ucx_perftest measures it.
#pragma once

#include <string>

namespace rsmperf {

// How often programs of others do something with so many bytes.
std::size_t iterations_of(std::size_t size);

// Half a round trip of messages of the given size, in ns, between two processes on the two
// processors that a measurement uses. `test`: "ucp_put_lat" or "tag_lat"; of "ucp_put_bw" and
// "tag_bw", the time of each. Throws when ucx_perftest is missing or fails.
double ucx_latency(const std::string &test, std::size_t size);

} // namespace rsmperf
