// SPDX-License-Identifier: MIT
// Receives: an EP's own, which wait in posting order, and those that it gets from its SRQ.
#pragma once

#include "engine/transfer/buffers.h"
#include "engine/transfer/post.h"
#include "transfer/work.h"

namespace rsmdat {

class Ep;
class Pz;

class Inbound {
  public:
    explicit Inbound(Ep &ep) noexcept : ep_(ep) {}

    // The Ep's limits have changed. Throws std::bad_alloc.
    void resize();

    // Checks and queues a receive.
    DAT_RETURN post(const Post &post) noexcept;
    void set_watermarks(DAT_COUNT soft, DAT_COUNT hard) noexcept;

    // Hands over what is queued, but leaves no more than `most` to the device at a time; false if
    // the queue pair does not take it.
    bool start(ibv_qp &qp, std::size_t most) noexcept;
    // Is there something that has not been handed over?
    [[nodiscard]] bool has_backlog() const noexcept { return handed_over_ < own_.waiting(); }
    void withdraw() noexcept { handed_over_ = 0; } // there is no queue pair
    void connected() noexcept;
    void completed(const ibv_wc &completion) noexcept;
    // The queue pair has gone; the receives are flushed.
    void flush() noexcept;

    [[nodiscard]] bool idle() const noexcept { return held() == 0; }
    [[nodiscard]] DAT_COUNT held() const noexcept {
        return static_cast<DAT_COUNT>(own_.waiting()) + (taking_ ? 1 : 0);
    }
    [[nodiscard]] bool ever_posted() const noexcept { return ever_posted_; }
    [[nodiscard]] bool failed() const noexcept { return failed_; }

  private:
    [[nodiscard]] DAT_RETURN may_post(const Post &post) const noexcept;
    [[nodiscard]] Buffers &buffers() noexcept;
    [[nodiscard]] Buffers::Slot take(const ibv_wc &completion) noexcept;
    [[nodiscard]] bool is_registered(Buffers::Slot slot) noexcept;
    [[nodiscard]] bool is_solicited(const ibv_wc &completion) const noexcept;
    void complete(Buffers::Slot slot, DAT_DTO_COMPLETION_STATUS status, std::uint64_t length,
                  bool solicited) noexcept;
    [[nodiscard]] bool exceeds(DAT_COUNT watermark) const noexcept;
    void check_watermarks() noexcept;

    Ep &ep_;
    Buffers own_;
    std::size_t handed_over_ = 0; // of those that wait
    DAT_COUNT soft_ = DAT_WATERMARK_INFINITE;
    DAT_COUNT hard_ = DAT_WATERMARK_INFINITE;
    int in_use_ = 0; // receives posted to the Ep, and their events not dequeued
    bool soft_armed_ = false;
    bool taking_ = false; // a buffer of the SRQ
    bool ever_posted_ = false;
    bool failed_ = false;
    bool live_ = false;
};

} // namespace rsmdat
