// SPDX-License-Identifier: MIT
#include "memory/copy.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>

namespace rsmengine {

namespace {

template <class Word>
void store(std::byte *to, const std::byte *from) noexcept {
    Word word;
    std::memcpy(&word, from, sizeof(word));
    std::atomic_ref<Word>(*reinterpret_cast<Word *>(to)).store(word, std::memory_order_relaxed);
}

void store_last(std::byte *to, const std::byte *from, std::size_t bytes) noexcept {
    switch (bytes) {
    case 8:
        return store<std::uint64_t>(to, from);
    case 4:
        return store<std::uint32_t>(to, from);
    case 2:
        return store<std::uint16_t>(to, from);
    default:
        return store<std::uint8_t>(to, from);
    }
}

} // namespace

std::size_t last_bytes(std::uint64_t end, std::uint64_t length) noexcept {
    const std::uint64_t aligned = std::uint64_t{1} << std::countr_zero(end | 8);
    return static_cast<std::size_t>(std::min(aligned, std::bit_floor(length)));
}

void copy_any_last_bytes_last(std::byte *to, const std::byte *from, std::size_t length) noexcept {
    if (length == 0)
        return;
    const std::size_t last = last_bytes(reinterpret_cast<std::uintptr_t>(to) + length, length);
    const std::size_t rest = length - last;
    std::memcpy(to, from, rest);
    std::atomic_thread_fence(std::memory_order_release);
    store_last(to + rest, from + rest, last);
}

PieceCursor::PieceCursor(std::span<const Segment> pieces, std::uint64_t offset) noexcept
    : pieces_(pieces), offset_(offset) {
    skip_finished();
}

void PieceCursor::skip_finished() noexcept {
    while (!pieces_.empty() && offset_ >= pieces_.front().length) {
        offset_ -= pieces_.front().length;
        pieces_ = pieces_.subspan(1);
    }
}

std::span<std::byte> PieceCursor::next(std::uint64_t most) noexcept {
    if (pieces_.empty())
        return {};
    const Segment &piece = pieces_.front();
    const std::uint64_t bytes = std::min(most, piece.length - offset_);
    auto *start = reinterpret_cast<std::byte *>(piece.address + offset_);
    offset_ += bytes;
    skip_finished();
    return {start, static_cast<std::size_t>(bytes)};
}

void copy_from_pieces(std::span<const Segment> pieces, std::uint64_t offset,
                      std::span<std::byte> to) noexcept {
    PieceCursor cursor(pieces, offset);
    while (!to.empty()) {
        const auto from = cursor.next(to.size());
        if (from.empty())
            return;
        std::memcpy(to.data(), from.data(), from.size());
        to = to.subspan(from.size());
    }
}

void copy_to_pieces(std::span<const Segment> pieces, std::uint64_t offset,
                    std::span<const std::byte> from) noexcept {
    PieceCursor cursor(pieces, offset);
    while (!from.empty()) {
        const auto to = cursor.next(from.size());
        if (to.empty())
            return;
        copy_last_bytes_last(to.data(), from.data(), to.size());
        from = from.subspan(to.size());
    }
}

} // namespace rsmengine
