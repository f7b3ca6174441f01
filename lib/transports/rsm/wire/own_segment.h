// SPDX-License-Identifier: MIT
// A segment of this side that peers may write: one half of a channel, or the slots of a service
// point.
#pragma once

#include "wire/device.h"

#include <cstdint>
#include <string_view>

namespace rsmengine {

// The controller of segments that stay on their node.
constexpr std::string_view NO_INTERCONNECT = "loopback";

// The `count` segment ids from `first` on. `count` is a power of two and divides `first`.
struct SegmentIds {
    std::uint32_t first;
    std::uint32_t count;
};

// Publishes `segment` with a random id of `ids`, which it stores in `id`. RSMERR status.
int publish_somewhere(const Export &segment, SegmentIds ids, std::span<const rsm_acl_entry> nodes,
                      std::uint32_t &id) noexcept;

class OwnSegment {
  public:
    // `controller` empty: for a holder of a ticket on this node. Otherwise to be published. The
    // memory is zero, `length` rounded up to whole pages. RSMERR status; the result holds what has
    // been made.
    static int create(const Device &device, std::string_view controller, std::size_t length,
                      OwnSegment &result) noexcept;

    [[nodiscard]] std::span<std::byte> bytes() const noexcept { return memory_.bytes(); }
    [[nodiscard]] const Export &handle() const noexcept { return handle_; }

  private:
    int show() noexcept;

    rsmdev::Mapping memory_;
    Export handle_; // destroyed before its memory
};

} // namespace rsmengine
