// SPDX-License-Identifier: MIT
#include "engine/transfer/receive_queue.h"

#include <algorithm>
#include <numeric>

namespace rsmengine {

void ReceiveQueue::resize(Count capacity, Count iov) {
    const std::size_t slots = std::max(static_cast<std::size_t>(capacity) + 1, slots_);
    const std::size_t width = std::max(static_cast<std::size_t>(iov), iov_);
    if (slots == slots_ && width == iov_)
        return;
    free_.reserve(slots);
    queue_.reserve(slots);
    move_to(slots, width);
}

void ReceiveQueue::move_to(std::size_t slots, std::size_t iov) {
    auto buffers = std::make_unique_for_overwrite<Buffer[]>(slots);
    auto pieces = std::make_unique_for_overwrite<Segment[]>(slots * iov);
    std::copy_n(buffers_.get(), slots_, buffers.get());
    for (std::size_t slot = 0; slot < slots_; ++slot)
        std::copy_n(pieces_.get() + slot * iov_, iov_, pieces.get() + slot * iov);
    buffers_ = std::move(buffers);
    pieces_ = std::move(pieces);
    // Push the new slots below the recently used ones, the lowest on top, so that warm memory is
    // reused first.
    const auto added = free_.insert(free_.begin(), slots - slots_, Slot{0});
    std::iota(added, added + static_cast<std::ptrdiff_t>(slots - slots_),
              static_cast<Slot>(slots_));
    std::reverse(added, added + static_cast<std::ptrdiff_t>(slots - slots_));
    slots_ = slots;
    iov_ = iov;
}

std::span<Segment> ReceiveQueue::room() noexcept {
    return {pieces_.get() + free_.back() * iov_, iov_};
}

void ReceiveQueue::post(const Buffer &buffer) noexcept {
    const Slot slot = free_.back();
    free_.pop_back();
    buffers_[slot] = buffer;
    queue_.push(slot);
}

ReceiveQueue::Slot ReceiveQueue::take() noexcept {
    const Slot slot = queue_.front();
    queue_.pop();
    return slot;
}

std::span<const Segment> ReceiveQueue::pieces(Slot slot) const noexcept {
    return {pieces_.get() + slot * iov_, static_cast<std::size_t>(buffers_[slot].pieces)};
}

} // namespace rsmengine
