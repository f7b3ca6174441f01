// SPDX-License-Identifier: MIT
// A segment of this side that peers may write: one half of a channel, or the slots of a service
// point.
#pragma once

#include "wire/device.h"

namespace rsmengine {

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
