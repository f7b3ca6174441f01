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

namespace rsmengine {

// The end of a link, which ends its channel, may wait for the peer's node: see end_link().
class RsmLink final : public Link, public Job {
  public:
    std::shared_ptr<Channel> channel; // a job of Engine::aside may share it
    std::uint32_t remote_node = 0;
    Engine::Alarm resend = 0;              // active: until the listener has seen the request
    std::unique_ptr<SharedJob<Call>> call; // likewise
    bool arrived = false;                  // active: the listener has seen it
    bool attaching = false;    // active: a job runs Channel::attach and owns the channel meanwhile
    bool closing_door = false; // passive: a job runs Channel::close_door
    bool closed_door = false;  // passive: has run it
    bool watches_bell = false;
    bool watches_listener = false; // active: likewise
    bool watches_peer = false;
};

inline RsmLink &link_of(const Ep &ep) noexcept {
    return own<RsmLink>(*ep.link);
}

// A port number that is unique among the connections of this node.
std::uint64_t new_port() noexcept;

// The two state words of a connection, one of each side.
LinkState said_by_peer(Channel &channel) noexcept;
void say_to_peer(Channel &channel, LinkState what) noexcept; // and rings the bell

// Notifies a requester that a service point has taken its request. This precedes the end of a
// reserved service point, which the requester would otherwise take for an answer.
void acknowledge(RsmLink &link) noexcept;
// Tells a requester that its request will not be accepted.
void refuse(Ia &ia, std::unique_ptr<Link> link, Refusal how) noexcept;

// Ends a link on another thread, when Ia::lock is free: the caller may be using the channel.
void end_link(Engine &engine, std::unique_ptr<Link> link) noexcept;

// Ends a link that the scope leaves where it is.
class UnusedLink {
  public:
    UnusedLink(Engine &engine, std::unique_ptr<Link> &link) noexcept
        : engine_(engine), link_(link) {}
    ~UnusedLink() {
        if (link_)
            end_link(engine_, std::move(link_));
    }
    UnusedLink(const UnusedLink &) = delete;
    UnusedLink &operator=(const UnusedLink &) = delete;

  private:
    Engine &engine_;
    std::unique_ptr<Link> &link_;
};

// The offer of a side. Private data is at most limits::PRIVATE_DATA bytes.
void write_terms(Terms &terms, const RsmLink &link, std::uint32_t read_in, std::uint32_t read_out,
                 std::span<const std::byte> private_data) noexcept;
// Copies the offer once; false if it is malformed.
bool read_terms(const Terms &from, Terms &copy) noexcept;
std::span<const std::byte> private_data_of(const Terms &terms) noexcept;

} // namespace rsmengine
