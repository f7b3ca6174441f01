// SPDX-License-Identifier: MIT
#include "wire/ring.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

namespace rsmengine {
namespace {

// A header travels as four words, so that each is read and written once.
using Words64 = std::array<std::uint64_t, 4>;
using Word = std::atomic_ref<std::uint64_t>;
static_assert(sizeof(MessageHeader) == sizeof(Words64));
static_assert(offsetof(MessageHeader, present) / sizeof(std::uint64_t) == 1);

std::uint64_t *words_of(const std::byte *cell) noexcept {
    return reinterpret_cast<std::uint64_t *>(const_cast<std::byte *>(cell));
}

std::uint64_t load(std::uint64_t &word) noexcept {
    return Word(word).load(std::memory_order_relaxed);
}

void store_header(std::byte *cell, const MessageHeader &header) noexcept {
    const auto words = std::bit_cast<Words64>(header);
    std::uint64_t *to = words_of(cell);
    Word(to[0]).store(words[0], std::memory_order_relaxed);
    Word(to[2]).store(words[2], std::memory_order_relaxed);
    Word(to[3]).store(words[3], std::memory_order_relaxed);
    present_word(cell).store(words[1], std::memory_order_release);
}

constexpr MessageHeader PAD_HEADER = [] {
    MessageHeader header{};
    header.kind = MessageKind::PAD;
    header.present = 1;
    return header;
}();

constexpr std::size_t space_of(std::size_t payload) noexcept {
    return (sizeof(MessageHeader) + payload + CELL - 1) / CELL * CELL;
}

std::size_t length_of(std::span<const std::span<const std::byte>> pieces) noexcept {
    std::size_t length = 0;
    for (const auto &piece : pieces)
        length += piece.size();
    return length;
}

void copy_pieces(std::byte *to, std::span<const std::span<const std::byte>> pieces) noexcept {
    for (const auto &piece : pieces) {
        if (piece.size() == sizeof(std::uint64_t))
            std::memcpy(to, piece.data(), sizeof(std::uint64_t));
        else if (!piece.empty())
            std::memcpy(to, piece.data(), piece.size());
        to += piece.size();
    }
}

} // namespace

std::byte *RingWriter::at(std::uint64_t position) const noexcept {
    return ring_.data() + (position & (ring_.size() - 1));
}

// The reader's word is untrusted: ignore impossible values.
bool RingWriter::has_room(std::size_t bytes) noexcept {
    if (bytes <= ring_.size() - (written_ - taken_)) [[likely]]
        return true;
    const std::uint64_t said = consumed_->load(std::memory_order_acquire);
    if (said - taken_ <= written_ - taken_)
        taken_ = said;
    return bytes <= ring_.size() - (written_ - taken_);
}

bool RingWriter::put(const MessageHeader &header,
                     std::span<const std::span<const std::byte>> pieces, Check check) noexcept {
    const std::size_t length = length_of(pieces);
    const std::size_t room = space_of(length);
    const std::size_t to_end = ring_.size() - (written_ & (ring_.size() - 1));
    const std::size_t pad = room > to_end ? to_end : 0;
    if (length > limit() || !has_room(pad + room + CELL))
        return false;
    std::byte *cell = at(written_ + pad);
    copy_pieces(cell + sizeof(header), pieces);
    if (!check())
        return false;
    present_word(at(written_ + pad + room)).store(0, std::memory_order_relaxed);
    MessageHeader complete = header;
    complete.length = static_cast<std::uint32_t>(length);
    complete.present = 1;
    store_header(cell, complete);
    if (pad != 0)
        store_header(at(written_), PAD_HEADER);
    written_ += pad + room;
    return true;
}

bool RingReader::copy_header(std::size_t at) noexcept {
    const std::byte *cell = ring_.data() + at;
    const std::uint64_t present = present_word(cell).load(std::memory_order_acquire);
    std::uint64_t *from = words_of(cell);
    current_.header =
        std::bit_cast<MessageHeader>(Words64{load(from[0]), present, load(from[2]), load(from[3])});
    return current_.header.present != 0;
}

Arrived RingReader::look() noexcept {
    const MessageHeader &header = current_.header;
    std::size_t at = offset();
    std::size_t pad = 0;
    if (!copy_header(at))
        return Arrived::NOTHING;
    if (header.kind == MessageKind::PAD) [[unlikely]] {
        // A message follows the PAD at the start of the ring.
        if (at == 0)
            return Arrived::NONSENSE;
        pad = ring_.size() - std::exchange(at, 0);
        if (!copy_header(at) || header.kind == MessageKind::PAD)
            return Arrived::NONSENSE;
    }
    // Behind a PAD a message ends where the PAD begins, so both fit into the ring.
    const std::size_t to_end = ring_.size() - pad - at - sizeof(header);
    if (header.length > std::min(to_end, ring_limit(ring_.size())))
        return Arrived::NONSENSE;
    read_ += pad;
    current_.payload = {ring_.data() + at + sizeof(header), header.length};
    has_current_ = true;
    return Arrived::MESSAGE;
}

Arrived RingReader::get_next(Message &message) noexcept {
    if (!has_current_)
        if (const Arrived arrived = look(); arrived != Arrived::MESSAGE)
            return arrived;
    message = current_;
    return Arrived::MESSAGE;
}

void RingReader::consume() noexcept {
    if (!has_current_)
        return;
    read_ += space_of(current_.payload.size());
    consumed_->store(read_, std::memory_order_release);
    has_current_ = false;
}

} // namespace rsmengine
