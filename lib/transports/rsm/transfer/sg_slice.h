// SPDX-License-Identifier: MIT
// The slice of a vector of local memory that one message carries.
#pragma once

#include "core/limits.h"

#include "engine/core/types.h"

#include <algorithm>
#include <array>
#include <span>

namespace rsmengine {

using SgPiece = std::span<const std::byte>;

inline SgPiece piece_of(const Segment &piece, std::uint64_t offset, std::uint64_t length) noexcept {
    const auto *start = reinterpret_cast<const std::byte *>(piece.address);
    return {start + offset, static_cast<std::size_t>(length)};
}

class SgSlice {
  public:
    // `length` bytes from `offset` on, which are there; valid as long as this is.
    std::span<const SgPiece> cut(std::span<const Segment> pieces, std::uint64_t offset,
                                 std::uint64_t length) noexcept {
        std::size_t count = 0;
        for (const Segment &piece : pieces) {
            const std::uint64_t here = piece.length;
            const std::uint64_t skipped = std::min(offset, here);
            const std::uint64_t taken = std::min(here - skipped, length);
            if (taken > 0)
                pieces_[count++] = piece_of(piece, skipped, taken);
            offset -= skipped;
            length -= taken;
        }
        return {pieces_.data(), count};
    }

  private:
    std::array<SgPiece, limits::IOV> pieces_;
};

} // namespace rsmengine
