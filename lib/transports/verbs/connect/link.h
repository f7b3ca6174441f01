// SPDX-License-Identifier: MIT
// The connection of an Ep, from connect or accept on until it has ended; before accept it is the
// Cr's.
#pragma once

#include "connect/manager.h"

#include <dat/udat.h>

#include <cstdint>
#include <sys/socket.h>

namespace rsmdat {

class Ep;

class Link final : public Party {
  public:
    Link(Manager &manager, Identifier id) noexcept;
    ~Link(); // tells the peer
    Link(const Link &) = delete;
    Link &operator=(const Link &) = delete;

    // The Ep's connector hears of events; until then it is only noted that the peer has gone.
    void happened(Happening &event) noexcept override;

    Ep *ep = nullptr;
    Identifier id;
    bool active = false;      // we asked
    bool established = false; // the peer is to be told of the end
    bool over = false;        // the peer has told us
    std::uint64_t local_port = 0;
    std::uint64_t remote_port = 0;
    DAT_CONN_QUAL qualifier = 0;         // that was asked for
    sockaddr_storage remote{};           // peer's address
    std::uint32_t max_rdma_read_out = 0; // agreed; passive, before accept: the peer's offer
    std::uint32_t max_rdma_read_in = 0;

  private:
    Manager &manager_;
};

// A service point has taken a request: who asks need not know before it is answered.
inline void acknowledge(Link & /*link*/) noexcept {}

// The port that a qualifier stands for: its low 16 bits, as other implementations have it. Port 0
// stands for none.
constexpr std::uint16_t port_of(DAT_CONN_QUAL qualifier) noexcept {
    return static_cast<std::uint16_t>(qualifier);
}

// An IA's address and a port of ours.
sockaddr_storage with_port(const sockaddr_storage &address, std::uint16_t port) noexcept;

// Brings a queue pair into a state (INIT to RTR, RTR to RTS) with what the connection manager and
// the link know. False, and errno, if that fails.
bool bring(ibv_qp &qp, ibv_qp_state state, const Link &link) noexcept;

} // namespace rsmdat
