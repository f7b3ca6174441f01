// SPDX-License-Identifier: GPL-2.0
// What a client has yet to be told.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>

#include "descriptor.hpp"
#include "message.hpp"

namespace ivshmem {

using Clock = std::chrono::steady_clock;

// For each other peer it holds one disconnection and one connection at most, however often peers
// come and go while the client doesn't read: so its size needs no limit, and no descriptor in it
// is one of a peer that has gone.
class Outbox {
  public:
    void push(const Message &message);

    // A peer's doorbells, one message each.
    void push_connection(std::int64_t peer, std::span<const Descriptor> doorbells);

    // Takes back what the client has not been told of the connection, and tells it of the end if
    // it was told of the beginning.
    void push_disconnection(std::int64_t peer, std::size_t doorbells);

    // Sends what the connection takes. Sent::yes: all of it.
    Sent flush(int connection);

    bool empty() const { return queue_.empty(); }

    // Since when the client has messages waiting and reads nothing.
    Clock::time_point stuck_since() const { return stuck_since_; }
    void client_has_read() { stuck_since_ = Clock::now(); }

  private:
    std::deque<Message> queue_;
    Clock::time_point stuck_since_;
};

} // namespace ivshmem
