// SPDX-License-Identifier: MIT
// The requests of an EP (sends, RDMA, binds), in posting order: those that have started, and behind
// them those that have not.
#pragma once

#include "engine/core/types.h"
#include "engine/event/event.h"

#include <bit>
#include <cstdint>
#include <memory>
#include <span>

namespace rsmengine {

// It has no initializers, so that an empty queue does not touch the memory of its entries.
struct Request {
    enum class Kind : std::uint8_t { SEND, WRITE, READ, BIND };
    Kind kind;
    bool done;        // the request has ended with `status`
    bool wired;       // at least a piece of it is in the request ring, as request `number`
    bool asked_again; // the way to its target was lost while it was taken
    CompletionStatus status;
    CompletionFlags flags;
    Count pieces; // local ones
    Cookie cookie;
    std::uint64_t length; // bytes to be moved
    std::uint64_t moved;
    std::uint64_t number;
    std::uint64_t address; // RDMA: target
    RemoteKey context;
    Handle rmr; // of a bind
};

class RequestQueue {
  public:
    // For `capacity` requests of up to `iov` pieces; empty afterwards. Throws std::bad_alloc.
    void resize(Count capacity, Count iov);

    // Where the next request is prepared, and its pieces: there is always one place more than the
    // capacity. push() queues it.
    [[nodiscard]] Request &vacant() noexcept { return at(tail_); }
    [[nodiscard]] std::span<Segment> room() noexcept { return {first_piece(tail_), iov_}; }
    void push() noexcept { ++tail_; }

    [[nodiscard]] bool empty() const noexcept { return head_ == tail_; }
    [[nodiscard]] bool has_started() const noexcept { return head_ != next_; }
    [[nodiscard]] bool has_unstarted() const noexcept { return next_ != tail_; }
    [[nodiscard]] std::size_t outstanding() const noexcept { return next_ - head_; } // started
    [[nodiscard]] Request &head() noexcept { return at(head_); }
    [[nodiscard]] Request &next() noexcept { return at(next_); } // to start
    void started() noexcept { ++next_; }                         // next() has
    void pop() noexcept;                                         // head(), started or not

    [[nodiscard]] std::span<const Segment> pieces(const Request &request) noexcept;
    // The request that travels as `number`; null if there is none.
    [[nodiscard]] Request *on_wire(std::uint64_t number) noexcept;

  private:
    [[nodiscard]] Request &at(std::size_t place) noexcept { return places_[place & mask_]; }
    [[nodiscard]] Segment *first_piece(std::size_t place) noexcept {
        return pieces_.get() + (place & mask_) * iov_;
    }

    std::unique_ptr<Request[]> places_;
    std::unique_ptr<Segment[]> pieces_;
    std::size_t mask_ = 0;
    std::size_t iov_ = 0;
    std::size_t head_ = 0;
    std::size_t next_ = 0;
    std::size_t tail_ = 0;
};

} // namespace rsmengine
