// SPDX-License-Identifier: GPL-2.0
// A connection to a node's rsm_rdma.ko by somebody who has libibverbs, not the module. Messages
// are spelled out here, not taken from kernel/rdma/frame.h: Documentation/rdma.md is the contract.
#pragma once

#include "net/stranger/proof.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <rdma/rdma_cma.h>
#include <span>
#include <vector>

namespace rsmtest::stranger {

using Mac = std::array<std::uint8_t, 16>;

struct Greeting {
    std::uint64_t magic = 0x414d44524d5352;
    std::uint16_t version = 2;
    std::uint16_t depth = 64;
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    std::uint32_t flags = 0; // 1: there is a secret
    std::uint64_t incarnation = 0x1122334455667788;
    std::uint64_t nonce = 0x99aabbccddeeff00;
    Mac mac{};
};
static_assert(sizeof(Greeting) == 56);

// The words of both while they connect. A MAC is made of all that is known by then.
struct Transcript {
    Greeting request;
    Greeting reply{.magic = 0, .version = 0, .depth = 0, .incarnation = 0, .nonce = 0};
    std::uint32_t request_qp = 0;
    std::uint32_t reply_qp = 0;
};
static_assert(sizeof(Transcript) == 120);

enum class Role : std::uint64_t { request = 1, reply = 2, proof = 3 };

Mac mac_of(const std::optional<Secret> &secret, Role role, const Transcript &said);

struct FrameHeader {
    std::uint16_t type = 2;
    std::uint16_t credits = 0;
    std::uint32_t reserved = 0;
};

struct MessageHeader {
    std::uint16_t version = 1;
    std::uint16_t type = 0;
    std::uint32_t len = 0;
    std::uint64_t from = 0;
    std::uint64_t to = 0;
};

// How to ask for a connection.
struct Request {
    Greeting greeting;
    std::uint8_t greeting_size = sizeof(Greeting);
    std::uint8_t reads = 16; // that the other may have under way here
    unsigned receives = 64;  // that wait for frames at first
    bool holds_up = false;   // the other is to wait for receives forever
    bool privileged = true;  // from a port that not everybody gets
    std::optional<Secret> secret;
    std::uint32_t relayed = 0; // so far is the number of the queue pair from that in the MAC
};

using Bytes = std::vector<std::byte>;

class Line {
  public:
    Line(const char *address, bool privileged);
    ~Line();
    Line(const Line &) = delete;
    Line &operator=(const Line &) = delete;

    // Whether the node has accepted.
    bool connect(const Request &request);
    // Waits until the connection has ended by itself, or for a pause, after which it may go on.
    void await_end();
    bool ends_within(int milliseconds);
    // False when the node has not taken it.
    bool send(std::span<const std::byte> bytes);
    // Looks at what has arrived and lets the node send as much again.
    std::optional<Bytes> receive();
    // Sends the frame that proves who we are.
    bool prove(const Mac &mac);
    // Reads the node's memory. Whether that was possible.
    bool read(std::uint64_t address, std::uint32_t key);

    const Greeting &node() const { return said_.reply; }
    const Transcript &said() const { return said_; }

  private:
    static constexpr std::size_t frame_size = 4096;
    static constexpr unsigned depth = 64;

    std::optional<rdma_cm_event_type> next_event(int milliseconds = -1);
    bool expect(rdma_cm_event_type type);
    void equip(unsigned receives);
    void post_receive(std::uint64_t slot);
    bool completes();
    ibv_sge piece(std::uint64_t slot, std::size_t size) const;

    struct ChannelEnd {
        void operator()(rdma_event_channel *channel) const { rdma_destroy_event_channel(channel); }
    };
    std::unique_ptr<rdma_event_channel, ChannelEnd> channel_;
    rdma_cm_id *id_ = nullptr;
    ibv_cq *sends_ = nullptr;
    ibv_cq *receives_ = nullptr;
    ibv_mr *mr_ = nullptr;
    bool ended_ = false;
    Transcript said_{};
    // Frames that are received, and one to send.
    std::vector<std::byte> memory_ = std::vector<std::byte>((depth + 1) * frame_size);
};

} // namespace rsmtest::stranger
