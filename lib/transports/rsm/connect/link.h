// SPDX-License-Identifier: MIT
// The connection of an Ep, from connect or accept on until it has ended; before accept it is the
// Cr's.
#pragma once

#include "connect/listener.h"
#include "engine/connect/ep.h"
#include "engine/core/own.h"
#include "engine/loop/engine.h"
#include "wire/channel.h"

#include <memory>
#include <sys/socket.h>

namespace rsmdat {

class RsmLink final : public Link {
  public:
    std::shared_ptr<Channel> channel; // a job of Engine::aside may have it, too
    std::uint32_t remote_node = 0;
    Engine::Alarm resend = 0;   // active: until the listener has seen the request
    std::shared_ptr<Call> call; // likewise
    bool arrived = false;       // active: it has
    bool attaching = false;     // active: Channel::attach is at work, hands off the channel
    bool watches_bell = false;
    bool watches_listener = false; // active: likewise
    bool watches_peer = false;
};

inline RsmLink &link_of(const Ep &ep) noexcept {
    return own<RsmLink>(*ep.link);
}

// A number that no other connection of this node has.
std::uint64_t new_port() noexcept;

// The two words by which sides tell each other how far they are.
LinkState said_by_peer(Channel &channel) noexcept;
void say_to_peer(Channel &channel, LinkState what) noexcept; // and rings

// A service point has taken a request. The requester knows it before a service point for one
// request is gone: it would take that for an answer otherwise.
void acknowledge(RsmLink &link) noexcept;
// Tells a requester that its request will not be accepted.
void refuse(Ia &ia, RsmLink &link, Refusal how) noexcept;

// The offer of a side. Private data is at most limits::PRIVATE_DATA bytes.
void write_terms(Terms &terms, const RsmLink &link, std::uint32_t read_in, std::uint32_t read_out,
                 std::span<const std::byte> private_data) noexcept;
// Copied once; false if it makes no sense.
bool read_terms(const Terms &from, Terms &copy) noexcept;
std::span<const std::byte> private_data_of(const Terms &terms) noexcept;

} // namespace rsmdat
