// SPDX-License-Identifier: MIT
// The seventh field of a line of dat.conf: "controller=NAME nodes=FILE ring=BYTES", any of them,
// separated by blanks. Unknown words are an error that makes the open of an adapter fail.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace rsmengine {

struct RsmOptions {
    std::string controller = "loopback";  // RSM controller that reaches other nodes, or loopback
    std::string nodes = "/etc/rsm/nodes"; // which addresses are which node (connect/nodes.h)
    std::size_t ring = 16384; // bytes of a connection's request ring: a power of 2, 4096 to 1048576
};

// Nothing if the text is malformed.
std::optional<RsmOptions> parse_rsm_options(std::string_view text);

} // namespace rsmengine
