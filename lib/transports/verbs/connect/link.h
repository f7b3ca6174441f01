// SPDX-License-Identifier: MIT
// The connection of an Ep, from connect or accept on until it has ended; before accept it is the
// Cr's.
#pragma once

#include "connect/manager.h"
#include "engine/connect/ep.h"
#include "engine/core/own.h"
#include "engine/core/types.h"

#include <cstdint>
#include <sys/socket.h>

namespace rsmengine {

class VerbsLink final : public Link, public CmListener {
  public:
    VerbsLink(Manager &manager, Identifier id) noexcept;
    // Replaces the identifier after an attempt has ended: the next attempt needs a new one.
    void replace(Identifier fresh) noexcept;
    ~VerbsLink() override; // tells the peer

    // Passes events to the Ep's connector; before there is an Ep, only records that the peer has
    // gone.
    void on_cm_event(CmEvent &event) noexcept override;

    Ep *ep = nullptr;
    Identifier id;
    bool established = false; // the peer must be notified of the end
    bool over = false;        // the peer has ended the connection

  private:
    Manager &manager_;
};

inline VerbsLink &link_of(const Ep &ep) noexcept {
    return own<VerbsLink>(*ep.link);
}

// Tells a requester that its request will not be accepted.
void refuse(const VerbsLink &link, Refusal how) noexcept;

// The port that a qualifier stands for: its low 16 bits, as other implementations have it. Port 0
// stands for none.
constexpr std::uint16_t port_of(Qualifier qualifier) noexcept {
    return static_cast<std::uint16_t>(qualifier);
}

// An IA's address and a port of ours.
sockaddr_storage with_port(const sockaddr_storage &address, std::uint16_t port) noexcept;

// Brings a queue pair into a state (INIT to RTR, RTR to RTS) with what the connection manager and
// the link know. False, and errno, if that fails.
bool bring(ibv_qp &qp, ibv_qp_state state, const VerbsLink &link) noexcept;

} // namespace rsmengine
