// SPDX-License-Identifier: MIT
// How a request finds a service point. A service point publishes a *label*, a page that everybody
// can read, under a segment id made of its qualifier: the kernel lets one exporter of a node have
// an id, so the label names the owner of the qualifier. The label holds a ticket with which
// processes of this node send a letter (RSM_IOC_SEND), which nobody but the service point reads.
// For other nodes it names the segment with the *slots*, which their users can write.
#pragma once

#include "wire/channel.h"
#include "wire/layout.h"
#include "wire/own_segment.h"

#include <array>
#include <memory>
#include <optional>
#include <string>

namespace rsmengine {

constexpr std::size_t LISTENER_SLOTS = 64;

struct Label {
    std::uint32_t magic;
    std::uint32_t version;
    std::uint64_t qualifier;
    std::uint64_t ticket[2]; // to send letters, on this node
    std::uint32_t slots;     // id of the segment for other nodes; 0: none
    std::uint32_t reserved;
};

// Where the label of a qualifier is. Qualifiers below 2^27 have ids of their own.
std::uint32_t label_id(std::uint64_t qualifier) noexcept;
std::uint64_t check_of(const ListenerSlot &slot) noexcept; // never 0

Credentials credentials_of(const SegmentAddress &address) noexcept;
SegmentAddress address_of(const Credentials &credentials) noexcept;

// Passive side.
class Listener {
  public:
    // RSM_SUCCESS, RSMERR_SEGID_IN_USE if the qualifier's id is another exporter's, or why else
    // there is no listener: then the result holds what has been made, whose end may wait.
    static int open(const Device &device, std::string_view controller, std::uint64_t qualifier,
                    Listener &result) noexcept;

    // Descriptors that are POLLIN when a letter, or something in a slot, has come. The second is -1
    // if there are no slots.
    [[nodiscard]] int letters_fd() const noexcept { return letters_.handle().fd(); }
    [[nodiscard]] int slots_fd() const noexcept { return slots_.handle().fd(); }
    void take_bells() const noexcept;
    // The next letter of a process of this node; nothing if there is none. Letters that make no
    // sense are skipped.
    [[nodiscard]] std::optional<SegmentAddress> next_letter() const noexcept;
    // The contents of a slot, if it is a request of another node that has not been seen lately. The
    // slot is cleared.
    [[nodiscard]] std::optional<SegmentAddress> take(std::size_t index) noexcept;
    // Treats a repetition of this request as a new one.
    void forget(const SegmentAddress &request) noexcept;

  private:
    int make(const Device &device, std::string_view controller) noexcept;
    int publish_slots(const Device &device, std::uint32_t &id) const noexcept;
    bool is_new(std::uint64_t nonce) noexcept;

    std::uint32_t node_ = 0;
    std::uint64_t qualifier_ = 0;
    OwnSegment label_;
    OwnSegment letters_;
    OwnSegment slots_;                                 // none without an interconnect
    std::array<std::uint64_t, LISTENER_SLOTS> seen_{}; // nonces of requests taken last
    std::size_t last_seen_ = 0;
};

// Active side: a request that was sent.
class Call {
  public:
    Call(const SegmentAddress &from, std::uint64_t qualifier) noexcept;

    // Finds the listener and delivers the request. RSM_SUCCESS, RSMERR_SEG_NOT_PUBLISHED if there
    // is none, RSMERR_REMOTE_NODE_UNREACHABLE and others. May sleep.
    int place(const Device &device, std::string_view controller, std::uint32_t node) noexcept;
    // A letter stays until it is received; a slot may have been overwritten since.
    [[nodiscard]] bool needs_repetition() const noexcept { return !local_; }
    // Puts the request into another slot.
    int repeat() noexcept;
    // POLLRDHUP: the listener is gone.
    [[nodiscard]] int fd() const noexcept { return listener_.fd(); }

  private:
    int send(const Device &device, const Label &label) noexcept;

    ListenerSlot slot_{};
    std::uint64_t tries_ = 0;
    bool local_ = false;
    Import listener_;
};

} // namespace rsmengine
