// SPDX-License-Identifier: MIT
// The slice of a vector of local memory that one message carries.
#pragma once

#include "core/limits.h"

#include <dat/udat.h>

#include <algorithm>
#include <array>
#include <span>

namespace rsmdat {

using SgPiece = std::span<const std::byte>;

inline SgPiece piece_of(const DAT_LMR_TRIPLET &piece, std::uint64_t offset,
                        std::uint64_t length) noexcept {
    const auto *start = reinterpret_cast<const std::byte *>(piece.virtual_address);
    return {start + offset, static_cast<std::size_t>(length)};
}

class SgSlice {
  public:
    // `length` bytes from `offset` on, which are there; valid as long as this is.
    std::span<const SgPiece> cut(std::span<const DAT_LMR_TRIPLET> pieces, std::uint64_t offset,
                                 std::uint64_t length) noexcept {
        std::size_t count = 0;
        for (const DAT_LMR_TRIPLET &piece : pieces) {
            const std::uint64_t here = piece.segment_length;
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

} // namespace rsmdat
