// SPDX-License-Identifier: MIT
// Which network address a port of an RDMA device has.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <sys/socket.h>

namespace rsmengine {

// The first of the network devices' addresses that rdma_cm would use this port for, IPv4 before
// IPv6; its own port number is 0. Nothing if there is none.
std::optional<sockaddr_storage> address_of_port(std::string_view device, std::uint8_t port);

} // namespace rsmengine
