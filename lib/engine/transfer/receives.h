// SPDX-License-Identifier: MIT
// Contract (transport.h): what every transport does with a receive: the checks of a post, the
// queue, watermarks, and the event of a completion. A transport derives its own class, which fills
// them.
#pragma once

#include "engine/core/status.h"
#include "engine/core/types.h"
#include "engine/event/event.h"
#include "engine/transfer/post.h"
#include "engine/transfer/receive_queue.h"

#include <optional>

namespace rsmengine {

class Ep;

class Receives {
  public:
    Receives(const Receives &) = delete;
    Receives &operator=(const Receives &) = delete;

    // Checks and queues a receive. NO_MEMORY if the queue is full.
    Status post(const Post &post) noexcept;
    void set_watermarks(Count soft, Count hard) noexcept;

    [[nodiscard]] bool idle() const noexcept { return held() == 0; }
    [[nodiscard]] Count held() const noexcept {
        return static_cast<Count>(own_.waiting()) + (current_ ? 1 : 0);
    }
    [[nodiscard]] bool ever_posted() const noexcept { return ever_posted_; }
    // True if the transport has to break the connection.
    [[nodiscard]] bool failed() const noexcept { return failed_; }

  protected:
    explicit Receives(Ep &ep) noexcept : ep_(ep) {}
    ~Receives() = default;

    // The Ep's limits have changed. Throws std::bad_alloc.
    void resize();
    [[nodiscard]] ReceiveQueue &buffers() noexcept; // the SRQ's if there is one
    // Delivers the completion event of `slot`, which was taken.
    void complete(ReceiveQueue::Slot slot, CompletionStatus status, std::uint64_t length,
                  bool solicited) noexcept;
    void check_watermarks() noexcept;

    Ep &ep_;
    ReceiveQueue own_;
    std::optional<ReceiveQueue::Slot> current_; // taken, and counted as held
    bool live_ = false;                         // connected: the hard watermark counts
    bool failed_ = false;

  private:
    [[nodiscard]] Status may_post(const Post &post) const noexcept;
    [[nodiscard]] bool exceeds(Count watermark) const noexcept;

    Count soft_ = UNLIMITED;
    Count hard_ = UNLIMITED;
    int in_use_ = 0; // receives posted to the Ep, and their events not dequeued
    bool soft_armed_ = false;
    bool ever_posted_ = false;
};

} // namespace rsmengine
