// SPDX-License-Identifier: GPL-2.0
// What rsmctl does, but for the command monitor.
#pragma once

#include "netlink.hpp"
#include "options.hpp"

namespace rsmctl {

// Throws NoFamily, Refused and other exceptions of the standard library.
void run(Socket &socket, const Options &options);

} // namespace rsmctl
