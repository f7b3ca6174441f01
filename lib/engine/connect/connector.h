// SPDX-License-Identifier: MIT
// Contract (transport.h): the transport's half of an Ep's state machine: how the Ep gets a link,
// and how that ends.
//
// The transport sets Ep::state to ACTIVE_CONNECTION_PENDING or COMPLETION_PENDING and Ep::link when
// an attempt has begun, calls Ep::feed before that, and from then on exactly one of Ep::establish
// and Ep::fail; after Ep::establish it calls Ep::end, or the Ep calls hang_up().
#pragma once

#include "engine/connect/link.h"
#include "engine/core/status.h"
#include "engine/core/types.h"
#include "engine/event/feeders.h"

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>

namespace rsmengine {

// A server may be about to listen. A transport repeats a request that finds no listener up to GRACE
// times, GRACE_PAUSE apart, before it refuses the request; Link::unheard counts.
inline constexpr unsigned GRACE = 10;
inline constexpr std::chrono::milliseconds GRACE_PAUSE{20};

// A Feeder of the Ep's EVDs between Ep::feed and Ep::unfeed.
class Connector : public Feeder {
  public:
    virtual ~Connector() = default;
    Connector(const Connector &) = delete;
    Connector &operator=(const Connector &) = delete;

    // Sends a request to an address, or to the peer of another connection; an event reports the
    // outcome. OK, or NO_MEMORY. Throws std::bad_alloc.
    virtual Status connect(const sockaddr_storage &remote, Qualifier qualifier, Timeout timeout,
                           std::span<const std::byte> private_data) = 0;
    virtual Status connect_like(const Link &model, Timeout timeout,
                                std::span<const std::byte> private_data) = 0;
    // Takes over a request's link and accepts. OK, or NO_MEMORY; throws
    // std::bad_alloc. If the call fails the link is unchanged.
    virtual Status accept(std::unique_ptr<Link> &from, std::span<const std::byte> private_data) = 0;

    // Drops the Ep's link, which is not established, or has ended. Calls Ep::unlimit and
    // Ep::unfeed; Ep::link is empty on return. Notifies the peer if it is reachable. Waits for no
    // peer.
    virtual void give_up() noexcept = 0;
    virtual void hang_up(Ending ending) noexcept = 0;

  protected:
    Connector() = default;
};

} // namespace rsmengine
