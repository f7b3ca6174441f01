// SPDX-License-Identifier: MIT
// Copies into memory that somebody may be polling: the last bytes are stored last.
#pragma once

#include <cstddef>
#include <dat/udat.h>
#include <span>

namespace rsmdat {

// Everything before the last up to 8 bytes is visible before them, and they appear in one piece if `to` allows it.
void copy_last_bytes_last(std::byte *to, const std::byte *from, std::size_t length) noexcept;

// Walks a vector of pieces: copies `bytes` of it, from `offset` on, out of or into plain memory.
void copy_from_pieces(std::span<const DAT_LMR_TRIPLET> pieces, std::uint64_t offset, std::span<std::byte> to) noexcept;
void copy_to_pieces(std::span<const DAT_LMR_TRIPLET> pieces, std::uint64_t offset,
                    std::span<const std::byte> from) noexcept;

} // namespace rsmdat
