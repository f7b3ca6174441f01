// SPDX-License-Identifier: MIT
// One ring of messages: cells of 64 bytes, filled by one process and emptied by another.
//
// A message takes as many cells as it needs, all in a row; a PAD takes those up to the ring's end
// when a message does not fit there. The header's word `present` is stored last. The writer clears
// the one of the cell behind a message before the message can be seen: so the reader, which looks
// at nothing but the next cell, finds either a message or nothing, and never the rest of an old
// payload.
#pragma once

#include "wire/layout.h"

#include <atomic>
#include <span>

namespace rsmengine {

constexpr std::size_t CELL = 64;
constexpr std::size_t MIN_RING = 4096; // both are powers of 2
constexpr std::size_t MAX_RING = 1U << 20;

// A message as the receiver sees it. The payload may change while it is looked at.
struct Message {
    MessageHeader header;
    std::span<const std::byte> payload;
};

enum class Arrived { NOTHING, MESSAGE, NONSENSE };

// Largest payload of a message. Four such messages fit, so writer and reader can work at a time,
// and one and its PAD always fit into an empty ring.
constexpr std::size_t ring_limit(std::size_t ring) noexcept {
    return ring / 4 - sizeof(MessageHeader);
}

// The word of a cell's header that is stored last; its half `present` is 0 if there is no message.
inline std::atomic_ref<std::uint64_t> present_word(const std::byte *cell) noexcept {
    constexpr std::size_t place = offsetof(MessageHeader, present) / sizeof(std::uint64_t);
    auto *words = reinterpret_cast<std::uint64_t *>(const_cast<std::byte *>(cell));
    return std::atomic_ref(words[place]);
}

// A question that send() asks after it has copied the bytes of a message and before the reader can
// see them. Refers to the callable, which must outlive it.
class Check {
  public:
    Check() noexcept = default;
    template <class Question>
    Check(const Question &question) noexcept // NOLINT(google-explicit-constructor)
        : ask_([](const void *what) { return (*static_cast<const Question *>(what))(); }),
          what_(&question) {}
    [[nodiscard]] bool operator()() const noexcept { return ask_ == nullptr || ask_(what_); }

  private:
    bool (*ask_)(const void *) = nullptr; // null: yes
    const void *what_ = nullptr;
};

class RingWriter {
  public:
    RingWriter() noexcept = default;
    // `consumed` is the reader's word, and untrusted.
    RingWriter(std::span<std::byte> ring, const std::atomic<std::uint64_t> &consumed) noexcept
        : ring_(ring), consumed_(&consumed) {}

    // False if there is no room now, or `check` says no.
    bool put(const MessageHeader &header, std::span<const std::span<const std::byte>> pieces,
             Check check = {}) noexcept;
    [[nodiscard]] std::size_t limit() const noexcept { return ring_limit(ring_.size()); }

  private:
    [[nodiscard]] bool has_room(std::size_t bytes) noexcept;
    [[nodiscard]] std::byte *at(std::uint64_t position) const noexcept;

    std::span<std::byte> ring_;
    const std::atomic<std::uint64_t> *consumed_ = nullptr;
    std::uint64_t written_ = 0; // bytes, ever
    std::uint64_t taken_ = 0;   // what the reader last said
};

class RingReader {
  public:
    RingReader() noexcept = default;
    RingReader(std::span<const std::byte> ring, std::atomic<std::uint64_t> &consumed) noexcept
        : ring_(ring), consumed_(&consumed) {}

    // Reads one word; true may be wrong. Inline, because polling calls it.
    [[nodiscard]] bool has_message() const noexcept {
        return has_current_ ||
               present_word(ring_.data() + offset()).load(std::memory_order_relaxed) != 0;
    }
    // The oldest message, the same one until consume(). NONSENSE changes nothing.
    Arrived get(Message &message) noexcept {
        return has_message() ? get_next(message) : Arrived::NOTHING;
    }
    void consume() noexcept;

  private:
    Arrived get_next(Message &message) noexcept;
    Arrived look() noexcept;
    [[nodiscard]] bool copy_header(std::size_t at) noexcept;
    [[nodiscard]] std::size_t offset() const noexcept { return read_ & (ring_.size() - 1); }

    std::span<const std::byte> ring_;
    std::atomic<std::uint64_t> *consumed_ = nullptr;
    std::uint64_t read_ = 0; // bytes, ever
    Message current_{};
    bool has_current_ = false;
};

} // namespace rsmengine
