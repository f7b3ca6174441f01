// SPDX-License-Identifier: MIT
// The shared memory of a connection. Each side exports one segment, which the other one imports and
// writes into: two rings of messages and a page of words. All that a side reads there is untrusted:
// it copies headers once and checks them, and keeps private copies of what it has written itself.
//
// Two rings because requests may have to wait for the consumer (a send without a receive posted),
// and responses never do.
#pragma once

#include "engine/loop/doorbell.h"
#include "wire/device.h"
#include "wire/ring.h"

#include <memory>
#include <optional>
#include <span>

namespace rsmengine {

// The address of a segment for the peer.
struct SegmentAddress {
    std::uint32_t node; // node that exports it
    std::uint32_t id;   // segment id, or 0: `ticket` counts (same node)
    Ticket ticket;
    Ticket nonce; // equals the one in the segment's Handshake, which identifies the segment
};

class Channel final : public Doorbell {
  public:
    // Creates this side's segment for a peer on `node`: local memory and a ticket if that is this
    // node; otherwise the segment is published on `controller` to that node under a random id.
    // RSMERR status; in case of an error the result holds what has been made, if anything. The end
    // of a channel may wait for the peer's node. Throws std::bad_alloc.
    static int create(const Device &device, std::string_view controller, std::uint32_t node,
                      std::size_t ring, std::unique_ptr<Channel> &result);
    ~Channel();

    [[nodiscard]] const SegmentAddress &address() const noexcept;
    // Imports the peer's segment, which has to be on the node that ours is for, and checks its
    // nonce, sizes and version. May sleep. RSMERR status.
    int attach(const SegmentAddress &peer) noexcept;
    // The same in two steps: reach() finds the segment, and attach() checks and takes it over; in
    // case of an error the import stays the caller's.
    static int reach(const Device &device, std::string_view controller, const SegmentAddress &peer,
                     Import &import) noexcept;
    int attach(const SegmentAddress &peer, Import &import) noexcept;
    [[nodiscard]] bool attached() const noexcept;
    // The peer has attached: no other process can attach to this side's segment from now on. May
    // wait for the peer's node, unless the channel is local(). Without Ia::lock.
    void close_door() noexcept;
    // The peer is on this node, so its memory may be reached directly.
    [[nodiscard]] bool local() const noexcept;

    // Handshake: ours to write before anybody is told the address; the peer's part of ours, and our
    // part of the peer's (layout.h).
    [[nodiscard]] Handshake &ours() noexcept;
    [[nodiscard]] Handshake &peers() noexcept; // attached() only

    // Requests and responses. send: false if there is no room now, or `check` says no. The pieces
    // are copied behind one another. limit(): largest payload of one message.
    enum class Ring { REQUEST, RESPONSE };
    [[nodiscard]] std::size_t limit(Ring ring) const noexcept;
    bool send(Ring ring, const MessageHeader &header,
              std::span<const std::span<const std::byte>> pieces, Check check = {}) noexcept;
    Arrived receive(Ring ring, Message &message) noexcept; // the same one until consume()
    void consume(Ring ring) noexcept;

    [[nodiscard]] bool has_message(Ring ring) const noexcept;
    // True if there is a message, if the peer has executed more requests, or if its words are
    // malformed.
    [[nodiscard]] bool has_unread() const noexcept;

    // The number of requests of the peer that this side has executed, and of this side's that the
    // peer has. The second never decreases, whatever the peer writes; it is empty if the peer's
    // word is impossible (more than `sent`).
    void set_executed(std::uint64_t count) noexcept;
    [[nodiscard]] std::optional<std::uint64_t> executed(std::uint64_t sent) noexcept;

    // Rings the peer's doorbell if the peer sleeps. Call once after a batch of
    // send/consume/set_executed/handshake writes.
    void ring_bell() noexcept;
    void ring_bell_always() noexcept; // handshake
    // This side is about to sleep: the peer must ring. Poll once more afterwards.
    void arm() noexcept override;
    void disarm() noexcept; // a thread polls
    [[nodiscard]] bool armed() const noexcept;

    [[nodiscard]] bool alive() const noexcept;  // the peer's segment is still there
    [[nodiscard]] int bell_fd() const noexcept; // POLLIN: the peer rang
    void take_bells() noexcept; // call before reading the rings: the peer rings again from then on
    [[nodiscard]] int peer_fd() const noexcept; // POLLRDHUP: the peer is gone

  private:
    struct Inside;
    explicit Channel(std::unique_ptr<Inside> inside) noexcept;
    int furnish(std::size_t request, std::size_t response) noexcept;
    int open_door() noexcept;
    void say_sleeps(std::uint32_t value) noexcept;
    std::unique_ptr<Inside> inside_;
};

} // namespace rsmengine
