// SPDX-License-Identifier: MIT
// Which IP addresses are which RSM node. Read once from a file of lines "NODE ADDRESS..." ('#'
// starts a comment, "%DEVICE" behind a link-local address is its link); an address of one of this
// machine's devices is this node whatever the file says.
#pragma once

#include "engine/connect/address.h"

#include <cstdint>
#include <istream>
#include <netinet/in.h>
#include <optional>
#include <string>
#include <sys/socket.h>
#include <vector>

namespace rsmengine {

class NodeTable {
  public:
    struct Entry {
        std::uint32_t node;
        sockaddr_storage address;
    };

    NodeTable(const std::string &file, std::uint32_t own_node); // a missing file is an empty one
    // The node that has this address (AF_INET, AF_INET6; the port does not matter).
    [[nodiscard]] std::optional<std::uint32_t> node_of(const sockaddr &address) const;
    // Our own: the file's line for our node if it is a local device's, else the first AF_INET
    // address of a device that is up and no loopback, else 127.0.0.1.
    [[nodiscard]] const sockaddr_storage &own_address() const noexcept { return own_address_; }
    // A node's address for CR and EP queries: the file's first, else AF_INET 0.0.0.0.
    [[nodiscard]] sockaddr_storage address_of(std::uint32_t node) const;

    // A line that can't be understood is skipped, an address that can't be, too. Addresses are bare
    // (address.h).
    static std::vector<Entry> parse(std::istream &text);

  private:
    [[nodiscard]] bool is_local(const sockaddr_storage &address) const;

    std::uint32_t own_node_;
    std::vector<Entry> entries_;
    std::vector<sockaddr_storage> local_;
    sockaddr_storage own_address_{};
};

} // namespace rsmengine
