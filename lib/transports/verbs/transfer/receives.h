// SPDX-License-Identifier: MIT
// Receives: an EP's own, which wait in posting order, and those that it gets from its SRQ.
#pragma once

#include "engine/transfer/receives.h"
#include "transfer/work.h"

namespace rsmengine {

class VerbsReceives final : public Receives {
  public:
    explicit VerbsReceives(Ep &ep) noexcept : Receives(ep) {}

    using Receives::resize;

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

  private:
    [[nodiscard]] ReceiveQueue::Slot take(const ibv_wc &completion) noexcept;
    [[nodiscard]] bool is_registered(ReceiveQueue::Slot slot) noexcept;
    [[nodiscard]] bool is_solicited(const ibv_wc &completion) const noexcept;

    std::size_t handed_over_ = 0; // of those that wait
};

} // namespace rsmengine
