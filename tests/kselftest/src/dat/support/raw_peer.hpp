// SPDX-License-Identifier: GPL-2.0
// The other end of a connection of provider rsm, without libdat: a program that has /dev/rsm and
// knows what messages look like.
#pragma once

#include "support/raw.hpp"
#include "support/waiting.hpp"

#include "wire/channel.h"
#include "wire/layout.h"

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace rsmtest::dat {

class RawPeer {
public:
    using Ring = rsmengine::Channel::Ring;

    // Calls the service point and waits until the connection is established; see connected().
    explicit RawPeer(std::uint64_t qualifier);

    bool connected() const { return connected_; }
    // A message of any kind.
    void send(Ring ring, rsmengine::MessageHeader header, std::span<const std::byte> payload = {});
    // Waits for the next one, whose payload is copied, or for the end of the connection.
    struct Received {
        rsmengine::MessageHeader header;
        std::vector<std::byte> payload;
    };
    std::optional<Received> receive(Ring ring, const Place &place = Place::here());
    // How to reach a context, if the peer tells.
    std::optional<rsmengine::Grant> ask(std::uint32_t context);
    // Waits until the peer has ended the connection.
    bool ended(const Place &place = Place::here());
    // Stays a moment longer, so that the other side acts on what it was sent; nothing is judged by it.
    void linger();
    // All that we may write: the peer's segment.
    std::span<std::byte> segment();
    // Our words about ourselves, which the peer reads.
    rsmengine::Words &own_words();
    void ring_bell() { channel_->ring_bell_always(); }

    const rsmengine::Device device;

private:
    void offer(std::uint64_t qualifier);
    bool call(std::uint64_t qualifier);
    bool attach();
    bool has_told(rsmengine::LinkState state) const;
    bool is_told(rsmengine::LinkState state); // waits for it
    bool is_over() const;

    std::unique_ptr<rsmengine::Channel> channel_;
    bool connected_ = false;
};

// A blank handle that redeemed the ticket of a grant, or status.
raw::Ticket ticket_of(const rsmengine::Grant &grant);

} // namespace rsmtest::dat
