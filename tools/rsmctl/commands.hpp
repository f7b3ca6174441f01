// SPDX-License-Identifier: GPL-2.0
// The commands of rsmctl, but for monitor.
#pragma once

#include <vector>

#include "netlink.hpp"
#include "options.hpp"
#include "record.hpp"
#include "schema.hpp"

namespace rsmctl {

// All objects of a kind.
std::vector<Json> all_of(Socket &socket, const Kind &kind);
// The counters of this node.
Json stats_of(Socket &socket);

// Throws NoFamily, Refused and other exceptions of the standard library.
void run(Socket &socket, const Options &options);

} // namespace rsmctl
