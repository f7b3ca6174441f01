// SPDX-License-Identifier: MIT
// Copies into memory that the target may be polling: the last bytes are stored last.
#pragma once

#include "engine/core/types.h"
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace rsmengine {

// How many bytes at the end of a range can be stored in one piece: 1, 2, 4 or 8.
std::size_t last_bytes(std::uint64_t end, std::uint64_t length) noexcept;

// Stores the last bytes, at most 8, after all others, and in one piece if the alignment of `to`
// allows it.
void copy_any_last_bytes_last(std::byte *to, const std::byte *from, std::size_t length) noexcept;
[[gnu::always_inline]] inline void copy_last_bytes_last(std::byte *to, const std::byte *from,
                                                        std::size_t length) noexcept {
    std::uint64_t word = 0;
    if (length != sizeof(word) ||
        reinterpret_cast<std::uintptr_t>(to) % alignof(std::uint64_t) != 0)
        return copy_any_last_bytes_last(to, from, length);
    std::memcpy(&word, from, sizeof(word));
    std::atomic_ref(*reinterpret_cast<std::uint64_t *>(to)).store(word, std::memory_order_relaxed);
}

// Walks a vector of pieces.
class PieceCursor {
  public:
    // From this byte of all of them on.
    PieceCursor(std::span<const Segment> pieces, std::uint64_t offset) noexcept;
    // Returns the next contiguous bytes, at most this many, and moves behind them; empty at the
    // end.
    std::span<std::byte> next(std::uint64_t most) noexcept;

  private:
    void skip_finished() noexcept;
    std::span<const Segment> pieces_; // what is left, the one we are in first
    std::uint64_t offset_;            // in that
};

// Copies a part of a vector, from `offset` on, out of or into plain memory. The vector is long
// enough.
void copy_from_pieces(std::span<const Segment> pieces, std::uint64_t offset,
                      std::span<std::byte> to) noexcept;
void copy_to_pieces(std::span<const Segment> pieces, std::uint64_t offset,
                    std::span<const std::byte> from) noexcept;

} // namespace rsmengine
