// SPDX-License-Identifier: MIT
// Contract (transport.h): a connection of an Ep, from connect or accept on until it has ended;
// before accept it is the Cr's.
#pragma once

#include "engine/core/types.h"

#include <cstdint>
#include <sys/socket.h>

namespace rsmengine {

enum class Ending { CLOSED, BROKEN };

enum class Refusal { BY_CONSUMER, BY_PROVIDER };

// A transport derives its links from this class. Destroying a link that the peer knows of ends the
// connection.
class Link {
  public:
    virtual ~Link() = default;
    Link(const Link &) = delete;
    Link &operator=(const Link &) = delete;

    bool active = false;  // this side sent the request
    unsigned unheard = 0; // active: requests that have found no listener
    std::uint64_t local_port = 0;
    std::uint64_t remote_port = 0;
    Qualifier qualifier = 0;             // that the request names
    sockaddr_storage remote{};           // peer's IA address
    std::uint32_t max_rdma_read_out = 0; // agreed; passive, before accept: the peer's offer
    std::uint32_t max_rdma_read_in = 0;

  protected:
    Link() = default;
};

} // namespace rsmengine
