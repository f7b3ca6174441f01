// SPDX-License-Identifier: MIT
// A queue whose memory is reserved in advance.
#pragma once

#include <bit>
#include <cstddef>
#include <vector>

namespace rsmengine {

template <class T>
class Fifo {
  public:
    // Room for `capacity`, or more; what is queued stays. Throws std::bad_alloc.
    void reserve(std::size_t capacity) {
        if (capacity <= places_.size())
            return;
        std::vector<T> places(std::bit_ceil(capacity));
        const std::size_t count = size();
        for (std::size_t i = 0; i < count; ++i)
            places[i] = at(head_ + i);
        places_.swap(places);
        head_ = 0;
        tail_ = count;
    }

    [[nodiscard]] bool empty() const noexcept { return head_ == tail_; }
    [[nodiscard]] bool full() const noexcept { return size() == places_.size(); }
    [[nodiscard]] std::size_t size() const noexcept { return tail_ - head_; }
    [[nodiscard]] T &front() noexcept { return at(head_); } // not empty()
    // Counted from the front; less than size().
    [[nodiscard]] T &operator[](std::size_t place) noexcept { return at(head_ + place); }
    void push(const T &value) noexcept { at(tail_++) = value; } // there is room
    void pop() noexcept { ++head_; }                            // not empty()
    void clear() noexcept { head_ = tail_; }

  private:
    [[nodiscard]] T &at(std::size_t place) noexcept {
        return places_[place & (places_.size() - 1)];
    }

    std::vector<T> places_;
    std::size_t head_ = 0;
    std::size_t tail_ = 0;
};

} // namespace rsmengine
