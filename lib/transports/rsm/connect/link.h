// SPDX-License-Identifier: MIT
// The connection of an Ep, from connect or accept on until it has ended; before accept it is the
// Cr's.
#pragma once

#include "connect/listener.h"
#include "engine/loop/engine.h"
#include "wire/channel.h"

#include <memory>
#include <sys/socket.h>

namespace rsmdat {

struct Link {
    std::shared_ptr<Channel> channel; // a job of Engine::aside may have it, too
    bool active = false;              // we asked
    std::uint64_t local_port = 0;
    std::uint64_t remote_port = 0;
    DAT_CONN_QUAL qualifier = 0; // that was asked for
    sockaddr_storage remote{};   // peer's IA address
    std::uint32_t remote_node = 0;
    std::uint32_t max_rdma_read_out = 0; // agreed; passive, before accept: the peer's offer
    std::uint32_t max_rdma_read_in = 0;
    Engine::Alarm resend = 0;   // active: until the listener has seen the request
    std::shared_ptr<Call> call; // likewise
    bool arrived = false;       // active: it has
    bool attaching = false;     // active: Channel::attach is at work, hands off the channel
    bool watches_bell = false;
    bool watches_listener = false; // active: likewise
    bool watches_peer = false;
};

// A number that no other connection of this node has.
std::uint64_t new_port() noexcept;

// The two words by which sides tell each other how far they are.
LinkState said_by_peer(Channel &channel) noexcept;
void say_to_peer(Channel &channel, LinkState what) noexcept; // and rings

// A service point has taken a request. The requester knows it before a service point for one
// request is gone: it would take that for an answer otherwise.
void acknowledge(Link &link) noexcept;

// The offer of a side. Private data is at most limits::PRIVATE_DATA bytes.
void write_terms(Terms &terms, const Link &link, std::uint32_t read_in, std::uint32_t read_out,
                 std::span<const std::byte> private_data) noexcept;
// Copied once; false if it makes no sense.
bool read_terms(const Terms &from, Terms &copy) noexcept;
std::span<const std::byte> private_data_of(const Terms &terms) noexcept;

} // namespace rsmdat
