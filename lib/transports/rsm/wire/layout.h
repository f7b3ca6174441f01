// SPDX-License-Identifier: MIT
// The layout of the segment of a connection, and the form of messages. Both sides are the same
// machine or machines of the same byte order (RSM's windows are memory); all fields are
// fixed-width.
#pragma once

#include "engine/event/event.h"

#include "core/limits.h"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace rsmengine {

constexpr std::uint32_t LAYOUT_MAGIC = 0x72444154; // "rDAT"
constexpr std::uint32_t LAYOUT_VERSION = 2;

enum class MessageKind : std::uint8_t {
    PAD = 0,       // nothing: fills the ring's end
    SEND = 1,      // request: a piece of a send; FIRST and LAST as they apply; total in FIRST
    WRITE = 2,     // request: a piece of an RDMA write, of `context` at `address`; likewise
    READ = 3,      // request: RDMA read of `total` bytes of `context` at `address`; no payload
    READ_DATA = 4, // response: a piece of what the oldest unanswered READ asked for
    ASK = 5,       // response ring: the sender wants to reach `context` directly (same node)
    GRANT = 6,     // response ring: answer: status 0 and a Grant as payload, or status != 0
    FAULT = 7, // response ring: request number `total` (counted from 0) failed with `status`; the
               // sender of this breaks the connection
    DONE = 8,  // response ring: the sender has carried out `total` requests and ends the connection
};

namespace message_flags {
constexpr std::uint8_t FIRST = 1;
constexpr std::uint8_t LAST = 2;
constexpr std::uint8_t SOLICITED = 4; // of a send, in FIRST
} // namespace message_flags

// A CompletionStatus in a header.
constexpr std::uint16_t on_wire(CompletionStatus status) noexcept {
    return static_cast<std::uint16_t>(status);
}

struct MessageHeader {
    MessageKind kind;
    std::uint8_t flags;
    std::uint16_t status; // CompletionStatus
    std::uint32_t length; // bytes of payload in this message: the ring counts them
    std::uint32_t context;
    std::uint32_t present; // the ring's: not 0 if there is a message
    std::uint64_t address;
    std::uint64_t total;
};
static_assert(sizeof(MessageHeader) == 32);

// Payload of GRANT: how to reach the memory of a context directly.
struct Grant {
    std::uint64_t ticket[2];
    std::uint64_t address;    // of the first byte granted, in the target's address space
    std::uint64_t length;     // bytes granted
    std::uint64_t offset;     // of the first byte granted, in the segment
    std::uint32_t permission; // RSM_PERM_*
    std::uint32_t reserved;
};

enum class LinkState : std::uint32_t {
    OFFERED = 0,     // written by the owner before it sends the address
    ARRIVED = 1,     // the listener has taken the request
    ACCEPTED = 2,    // `answer` is valid
    REJECTED = 3,    // by the consumer
    REFUSED = 4,     // by the provider: no listener, queue full, credits, resources
    ESTABLISHED = 5, // active side to passive side
    CLOSED = 6,      // orderly end, by either side
    BROKEN = 7,      // the other side ends it because of an error
};

// Connection set-up. `offer` is written by the owner, all else by the peer.
struct Credentials {
    std::uint32_t node;
    std::uint32_t id;
    std::uint64_t ticket[2];
    std::uint64_t nonce[2];
};

struct Terms {               // what a side offers the other
    std::uint64_t qualifier; // asked for (offer only)
    std::uint64_t port;      // the sender's local port qualifier
    std::uint32_t max_rdma_read_in;
    std::uint32_t max_rdma_read_out;
    std::uint32_t private_data_size;
    std::uint32_t reserved;
    unsigned char private_data[limits::PRIVATE_DATA];
};

struct Handshake {
    // The owner's.
    std::uint32_t magic;
    std::uint32_t version;
    std::uint64_t nonce[2];
    std::uint32_t request_ring; // bytes
    std::uint32_t response_ring;
    Terms offer;
    // The peer's.
    alignas(64) std::atomic<std::uint32_t> state; // LinkState
    std::uint32_t reserved;
    Credentials answer_from;
    Terms answer;
};

// Words that the owner writes. The peer reads them, and clears `sleeps` when it rings.
struct Words {
    alignas(64) std::atomic<std::uint32_t> sleeps;   // 1: ring after a message
    alignas(64) std::atomic<std::uint64_t> executed; // requests of the peer's carried out
    std::atomic<std::uint64_t> consumed[2];          // bytes taken from the two rings, ever
};

// The start of the segment; the request ring follows at RINGS, the response ring behind it.
struct Front {
    Handshake handshake;
    Words words;
};
constexpr std::size_t RINGS = 4096;
static_assert(sizeof(Front) <= RINGS);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

// The begin of a letter to a listener, and the contents of a slot: the place of the request's
// segment.
struct ListenerSlot {
    std::uint64_t qualifier;
    Credentials from;
    std::uint64_t check; // of all before it; 0 in an empty slot
};

} // namespace rsmengine
