// SPDX-License-Identifier: GPL-2.0
// libfabric over shared memory, as fi_pingpong measures it.
#pragma once

#include <cstddef>
#include <string>

namespace rsmperf {

// Half a round trip of messages of the given size, in ns, by provider shm. Throws when fi_pingpong
// (package libfabric-bin) is missing or fails.
double fabric_latency(std::size_t size);

// The time in the last line of its report, in ns.
double fabric_time(const std::string &report);

} // namespace rsmperf
