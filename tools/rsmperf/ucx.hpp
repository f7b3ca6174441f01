// SPDX-License-Identifier: GPL-2.0
// UCX over POSIX shared memory, as ucx_perftest measures it.
#pragma once

#include <string>

namespace rsmperf {

// Half a round trip of messages of the given size, in ns, between two processes on the two
// processors that a measurement uses. `test`: "ucp_put_lat" or "tag_lat". Throws when
// ucx_perftest is missing or fails.
double ucx_latency(const std::string &test, std::size_t size);

} // namespace rsmperf
