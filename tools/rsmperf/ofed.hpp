// SPDX-License-Identifier: GPL-2.0
// uDAPL 2.0 as OFED has it, over the same device as ours: its program dtest.
#pragma once

#include "program.hpp"

namespace rsmperf {

// The program, as an order names it. It writes to and fro, each side waiting for the last byte.
inline constexpr const char *ofed_test = "dtest";

Command ofed_server(std::size_t size);

// Half a round trip in ns, the server running at the address. Throws when the program is missing or
// fails.
double ofed_time(std::size_t size, const std::string &address);

} // namespace rsmperf
