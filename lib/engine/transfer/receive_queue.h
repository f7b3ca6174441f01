// SPDX-License-Identifier: MIT
// Posted receives, of an EP or an SRQ: a queue of those that wait for a message, and beside it
// those that a message is filling.
#pragma once

#include "engine/transfer/fifo.h"

#include "engine/core/types.h"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace rsmengine {

// It has no initializers, so that an empty queue does not touch the memory of its entries.
struct Buffer {
    Cookie cookie;
    CompletionFlags flags;
    Count pieces;
    std::uint64_t length;
};

class ReceiveQueue {
  public:
    using Slot = std::uint32_t;

    ReceiveQueue() = default;
    // Makes room for at least so many receives of at least so many pieces each. Queued receives
    // stay. Throws std::bad_alloc.
    void resize(Count capacity, Count iov);

    // Where the pieces of the next one are prepared: there is always one place more than the
    // capacity. post() queues it.
    [[nodiscard]] std::span<Segment> room() noexcept;
    void post(const Buffer &buffer) noexcept;

    [[nodiscard]] std::size_t waiting() const noexcept { return queue_.size(); }
    [[nodiscard]] Slot peek(std::size_t place) noexcept { return queue_[place]; } // of the waiting
    [[nodiscard]] Slot take() noexcept;                         // the oldest; waiting() > 0
    void release(Slot slot) noexcept { free_.push_back(slot); } // taken before
    [[nodiscard]] const Buffer &operator[](Slot slot) const noexcept { return buffers_[slot]; }
    [[nodiscard]] std::span<const Segment> pieces(Slot slot) const noexcept;

  private:
    void move_to(std::size_t slots, std::size_t iov);

    std::unique_ptr<Buffer[]> buffers_;
    std::unique_ptr<Segment[]> pieces_;
    std::vector<Slot> free_; // has room for all slots
    Fifo<Slot> queue_;
    std::size_t slots_ = 0;
    std::size_t iov_ = 0;
};

} // namespace rsmengine
