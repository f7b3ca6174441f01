// SPDX-License-Identifier: MIT
// Contract (transport.h): what every transport does with a receive: the checks of a post, the
// queue, watermarks, and the event of a completion. A transport derives its own class, which fills
// them.
#pragma once

#include "engine/transfer/post.h"
#include "engine/transfer/receive_queue.h"

#include <optional>

namespace rsmdat {

class Ep;

class Receives {
  public:
    Receives(const Receives &) = delete;
    Receives &operator=(const Receives &) = delete;

    // Checks and queues a receive. DAT_INSUFFICIENT_RESOURCES if the queue is full.
    DAT_RETURN post(const Post &post) noexcept;
    void set_watermarks(DAT_COUNT soft, DAT_COUNT hard) noexcept;

    [[nodiscard]] bool idle() const noexcept { return held() == 0; }
    [[nodiscard]] DAT_COUNT held() const noexcept {
        return static_cast<DAT_COUNT>(own_.waiting()) + (current_ ? 1 : 0);
    }
    [[nodiscard]] bool ever_posted() const noexcept { return ever_posted_; }
    [[nodiscard]] bool failed() const noexcept { return failed_; } // the connection is to break

  protected:
    explicit Receives(Ep &ep) noexcept : ep_(ep) {}
    ~Receives() = default;

    // The Ep's limits have changed. Throws std::bad_alloc.
    void resize();
    [[nodiscard]] ReceiveQueue &buffers() noexcept; // the SRQ's if there is one
    // Delivers the completion event of `slot`, which was taken.
    void complete(ReceiveQueue::Slot slot, DAT_DTO_COMPLETION_STATUS status, std::uint64_t length,
                  bool solicited) noexcept;
    void check_watermarks() noexcept;

    Ep &ep_;
    ReceiveQueue own_;
    std::optional<ReceiveQueue::Slot> current_; // taken, and counted as held
    bool live_ = false;                         // connected: the hard watermark counts
    bool failed_ = false;

  private:
    [[nodiscard]] DAT_RETURN may_post(const Post &post) const noexcept;
    [[nodiscard]] bool exceeds(DAT_COUNT watermark) const noexcept;

    DAT_COUNT soft_ = DAT_WATERMARK_INFINITE;
    DAT_COUNT hard_ = DAT_WATERMARK_INFINITE;
    int in_use_ = 0; // receives posted to the Ep, and their events not dequeued
    bool soft_armed_ = false;
    bool ever_posted_ = false;
};

} // namespace rsmdat
