// SPDX-License-Identifier: GPL-2.0
// Commands on a node.
#pragma once

#include "net/peer/args.hpp"

namespace rsmtest::net {

// The rest of the order is a command: its exit status and what it said.
Answer run_shell(Args &args);

} // namespace rsmtest::net
