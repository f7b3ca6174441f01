// SPDX-License-Identifier: MIT
// Work requests of a queue pair, and the meaning of their completions.
#pragma once

#include "core/library_limits.h"
#include "engine/core/types.h"
#include "engine/event/event.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <infiniband/verbs.h>
#include <span>

namespace rsmengine {

// The subject of a completion. Requests complete in the order in which they were given, and so do
// receives of an endpoint's own; those of an SRQ are told by their slot.
enum class Work : std::uint64_t { REQUEST = 0, RECEIVE = 1, PING = 2 };

constexpr unsigned WORK_BITS = 2;

constexpr std::uint64_t number_of(Work kind, std::uint64_t slot = 0) noexcept {
    return slot << WORK_BITS | static_cast<std::uint64_t>(kind);
}
constexpr Work kind_of(std::uint64_t number) noexcept {
    return static_cast<Work>(number & ((1U << WORK_BITS) - 1));
}
constexpr std::uint32_t slot_of(std::uint64_t number) noexcept {
    return static_cast<std::uint32_t>(number >> WORK_BITS);
}

// The first `length` bytes of the pieces as a device wants them; valid as long as this is. A device
// moves as much as its list holds, whatever the request's other side says. `length` is at most the
// longest message of the device, which fits 32 bits.
class Gathered {
  public:
    Gathered(std::span<const Segment> pieces, std::uint64_t length) noexcept {
        for (const Segment &piece : pieces) {
            const std::uint64_t part = std::min<std::uint64_t>(piece.length, length);
            if (part == 0)
                continue;
            list_[count_++] = {piece.address, static_cast<std::uint32_t>(part), piece.key};
            length -= part;
        }
    }
    [[nodiscard]] ibv_sge *list() noexcept { return list_.data(); }
    [[nodiscard]] int count() const noexcept { return static_cast<int>(count_); }

  private:
    std::array<ibv_sge, limits::IOV> list_;
    std::size_t count_ = 0;
};

// The status of the interface for an error of the device.
CompletionStatus status_of(ibv_wc_status status) noexcept;

} // namespace rsmengine
