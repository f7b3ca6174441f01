// SPDX-License-Identifier: GPL-2.0
// Connection set-up between nodes, as the tests and their partner do it.
#pragma once

#include "dat/support/side.hpp"
#include "datnet/support/bytes.hpp"

#include <netinet/in.h>

namespace rsmtest::datnet {

// ep_connect to a qualifier of a node, with private data of the active side.
DAT_RETURN call(const dat::Side &side, in_addr_t address, DAT_CONN_QUAL qualifier,
                std::size_t private_size = 0, DAT_TIMEOUT timeout = DAT_TIMEOUT_INFINITE);

// The qualifier of a new service point, which lives as long as the IA.
DAT_CONN_QUAL listen(const dat::Side &side);

// A request that came: its private data is looked at, and that it comes from elsewhere.
struct Caller {
    DAT_CR_HANDLE cr = DAT_HANDLE_NULL;
    std::size_t private_size = 0;
    std::size_t mismatches = 0;
    in_addr_t address = 0;
};
Caller next_caller(const dat::Side &side);
DAT_RETURN accept(const dat::Side &side, DAT_CR_HANDLE cr, std::size_t private_size = 0);

} // namespace rsmtest::datnet
