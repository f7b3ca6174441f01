// SPDX-License-Identifier: MIT
// The private data of rdma_cm's messages. IB pads it, so it starts with two bytes of RSM: a mark,
// which for a rejection says who rejects, and the length of the consumer's data.
#pragma once

#include "engine/connect/link.h"

#include <array>
#include <cstddef>
#include <optional>
#include <span>

namespace rsmengine {

// The bytes that fit into a request on every transport, and so those that the consumer may have.
constexpr std::size_t REQUEST_ROOM = 56;
constexpr std::size_t GREETING_HEAD = 2;
constexpr std::size_t GREETING_ROOM = REQUEST_ROOM - GREETING_HEAD;

class Greeting {
  public:
    // At most GREETING_ROOM bytes.
    explicit Greeting(std::span<const std::byte> data) noexcept;
    [[nodiscard]] std::span<const std::byte> bytes() const noexcept {
        return std::span(bytes_).first(size_);
    }
    // The consumer's part of what came; nothing if it is no greeting. It refers to `from`.
    static std::optional<std::span<const std::byte>>
    data_of(std::span<const std::byte> from) noexcept;

  private:
    std::array<std::byte, REQUEST_ROOM> bytes_{};
    std::size_t size_;
};

using Rejection = std::array<std::byte, GREETING_HEAD>;
Rejection rejection(Refusal how) noexcept;
// A rejection without the mark is the kernel's: no program listens, or the program has ended.
Refusal refusal_of(std::span<const std::byte> from) noexcept;

} // namespace rsmengine
