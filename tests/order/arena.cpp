// SPDX-License-Identifier: GPL-2.0
#include "order/arena.hpp"

#include "order/generate.hpp"

#include <algorithm>

namespace order {
namespace {

constexpr std::uint32_t behind = 64; // guard bytes behind the last piece of a region

std::byte guard(std::uint32_t offset) {
    return static_cast<std::byte>(0xc5U ^ offset ^ (offset >> 8U));
}

} // namespace

Arena::Arena(const Program &program, int side, std::span<std::byte> bytes)
    : program_(program), side_(side), bytes_(bytes) {
    for (const Buffer &buffer : program.buffers)
        if (buffer.side == side)
            pieces_.insert(pieces_.end(), buffer.pieces.begin(), buffer.pieces.end());
    std::ranges::sort(pieces_, {}, &Piece::offset);
    std::uint32_t at = 0;
    for (const Piece &piece : pieces_) {
        if (piece.offset >= main_bytes && at < main_bytes) { // the second region
            guards_.push_back({at, behind});
            at = main_bytes;
        }
        guards_.push_back({at, piece.offset - at});
        at = piece.offset + piece.length;
    }
    guards_.push_back({at, behind});
}

void Arena::fill() const {
    for (const Piece &piece : guards_)
        for (std::uint32_t i = 0; i < piece.length; i++)
            bytes_[piece.offset + i] = guard(piece.offset + i);
    for (const Buffer &buffer : program_.buffers) {
        std::size_t index = 0;
        if (buffer.side == side_)
            for (const Piece &piece : buffer.pieces)
                for (std::uint32_t i = 0; i < piece.length; i++)
                    bytes_[piece.offset + i] =
                        static_cast<std::byte>(encode(buffer.token, index++));
    }
}

Snapshot Arena::snapshot(int index) const {
    const Buffer &buffer = program_.buffers[static_cast<std::size_t>(index)];
    Snapshot result{index, {}};
    result.tokens.reserve(buffer.length());
    for (const Piece &piece : buffer.pieces)
        for (std::uint32_t i = 0; i < piece.length; i++)
            result.tokens.push_back(
                decode(static_cast<std::uint8_t>(bytes_[piece.offset + i]), result.tokens.size()));
    return result;
}

std::vector<Snapshot> Arena::all() const {
    std::vector<Snapshot> result;
    for (int i = 0; i < static_cast<int>(program_.buffers.size()); i++)
        if (program_.buffers[static_cast<std::size_t>(i)].side == side_)
            result.push_back(snapshot(i));
    return result;
}

std::vector<std::uint32_t> Arena::damage() const {
    std::vector<std::uint32_t> result;
    for (const Piece &piece : guards_)
        for (std::uint32_t at = piece.offset; at < piece.offset + piece.length; at++)
            if (bytes_[at] != guard(at) && result.size() < 8)
                result.push_back(at);
    return result;
}

} // namespace order
