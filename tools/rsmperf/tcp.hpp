// SPDX-License-Identifier: GPL-2.0
// TCP over the loopback device: the other way to a process of the same machine, by number.
#pragma once

#include <cstddef>
#include <vector>

#include <netinet/in.h>

#include "peer.hpp"

namespace rsmperf {

enum class TcpRole {
    greet, // sends each client a byte
    echo   // answers messages of one client
};

// Another process that listens.
class TcpServer {
  public:
    explicit TcpServer(TcpRole role, std::size_t size = 1);
    TcpServer(const TcpServer &) = delete;
    TcpServer(TcpServer &&) = delete;
    TcpServer &operator=(const TcpServer &) = delete;
    TcpServer &operator=(TcpServer &&) = delete;
    ~TcpServer() { peer_.kill(); }

    void connect_and_close() const;
    [[nodiscard]] Descriptor connect_to_it() const;

  private:
    Peer peer_;
    sockaddr_in address_;
};

// Messages of one size, there and back.
class TcpPingPong {
  public:
    explicit TcpPingPong(std::size_t size);

    void round_trip();

  private:
    TcpServer server_;
    Descriptor end_;
    std::vector<char> message_;
};

} // namespace rsmperf
