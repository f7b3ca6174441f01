// SPDX-License-Identifier: MIT
#include "engine/transfer/request_queue.h"

#include <utility>

namespace rsmengine {

void RequestQueue::resize(Count capacity, Count iov) {
    const std::size_t places = std::bit_ceil(static_cast<std::size_t>(capacity) + 1);
    const auto width = static_cast<std::size_t>(iov);
    auto requests = std::make_unique_for_overwrite<Request[]>(places);
    auto pieces = std::make_unique_for_overwrite<Segment[]>(places * width);
    places_ = std::move(requests);
    pieces_ = std::move(pieces);
    mask_ = places - 1;
    iov_ = width;
    head_ = next_ = tail_ = 0;
}

void RequestQueue::pop() noexcept {
    if (head_ == next_)
        ++next_;
    ++head_;
}

std::span<const Segment> RequestQueue::pieces(const Request &request) noexcept {
    const auto place = static_cast<std::size_t>(&request - places_.get());
    return {first_piece(place), static_cast<std::size_t>(request.pieces)};
}

Request *RequestQueue::on_wire(std::uint64_t number) noexcept {
    for (std::size_t i = head_; i != tail_; ++i)
        if (Request &request = at(i); request.wired && request.number == number)
            return &request;
    return nullptr;
}

} // namespace rsmengine
