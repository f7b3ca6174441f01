// SPDX-License-Identifier: MIT
// How a request finds a service point. That owns two pages: a *label* that everybody can read and
// that says which qualifier it is, and *slots* that everybody can write and nobody read, where
// requests are put. Both have ids made of the qualifier; there are eight places to go when an id is
// another's. The label is published first, so it decides who has a qualifier.
#pragma once

#include "wire/channel.h"
#include "wire/layout.h"
#include "wire/own_segment.h"

#include <memory>
#include <optional>
#include <string>

namespace rsmdat {

constexpr std::size_t LISTENER_SLOTS = 64;
constexpr std::uint32_t LISTENER_PLACES = 8;

struct Label {
    std::uint32_t magic;
    std::uint32_t version;
    std::uint64_t qualifier;
};

std::uint32_t label_id(std::uint64_t qualifier, std::uint32_t place) noexcept;
std::uint32_t slots_id(std::uint64_t qualifier, std::uint32_t place) noexcept;
std::uint64_t check_of(const ListenerSlot &slot) noexcept; // never 0

Credentials credentials_of(const SegmentAddress &address) noexcept;
SegmentAddress address_of(const Credentials &credentials) noexcept;

// Passive side.
class Listener {
  public:
    // RSM_SUCCESS, RSMERR_SEGID_IN_USE if somebody listens on the qualifier or no place is left,
    // or why else there is none.
    static int open(const Device &device, std::string_view controller, std::uint64_t qualifier,
                    Listener &result) noexcept;

    [[nodiscard]] int fd() const noexcept { return slots_.handle().fd(); } // POLLIN
    void take_bells() const noexcept { slots_.handle().take_events(); }
    // What a slot holds, if anything; the slot is empty then.
    [[nodiscard]] std::optional<ListenerSlot> take(std::size_t index) const noexcept;

  private:
    static int make(const Device &device, std::string_view controller, std::uint64_t qualifier,
                    Listener &result) noexcept;
    static int try_place(const Device &device, std::string_view controller, std::uint64_t qualifier,
                         std::uint32_t place, Listener &result) noexcept;

    OwnSegment label_;
    OwnSegment slots_;
};

// Active side: a request on its way.
class Call {
  public:
    Call(const SegmentAddress &from, std::uint64_t qualifier) noexcept;

    // Finds the listener and puts the request there. RSM_SUCCESS, RSMERR_SEG_NOT_PUBLISHED if there
    // is none, RSMERR_REMOTE_NODE_UNREACHABLE and others. May sleep.
    int place(const Device &device, std::string_view controller, std::uint32_t node) noexcept;
    // Puts it again, into another slot: somebody may have overwritten it.
    int repeat() noexcept;

  private:
    ListenerSlot slot_{};
    std::uint64_t tries_ = 0;
    Import listener_;
};

// Tells whoever waits at `from` that nobody will take the request. For those that are refused
// before there is a channel, however little memory is left.
void refuse(const Device &device, std::string_view controller, const SegmentAddress &from) noexcept;

} // namespace rsmdat
