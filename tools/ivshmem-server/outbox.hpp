// SPDX-License-Identifier: GPL-2.0
// Messages that a client has yet to get.
#pragma once

#include <cstdint>
#include <deque>
#include <span>

#include "descriptor.hpp"
#include "looks.hpp"
#include "message.hpp"

namespace ivshmem {

// It holds the doorbells of each id once at most, however often peers come and go while the client
// doesn't read: so its size needs no limit.
class Outbox {
  public:
    void push(const Message &message);

    // The doorbells of an id, one message each.
    void push_doorbells(std::int64_t id, std::span<const Descriptor> doorbells);

    // Sends what the connection takes. Sent::yes: all of it.
    Sent flush(int connection);

    bool empty() const { return queue_.empty(); }

    // Since when the client has messages waiting and reads nothing.
    Clock::time_point stuck_since() const { return stuck_since_; }
    void begin_patience() { stuck_since_ = Clock::now(); }

  private:
    std::deque<Message> queue_;
    Clock::time_point stuck_since_;
};

} // namespace ivshmem
