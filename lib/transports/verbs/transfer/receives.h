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

    // Posts queued receives to the queue pair, which holds at most `most` at a time. False if the
    // queue pair refuses one.
    bool start(ibv_qp &qp, std::size_t most) noexcept;
    // True if receives wait that were not posted to the queue pair.
    [[nodiscard]] bool has_backlog() const noexcept { return handed_over_ < own_.waiting(); }
    void withdraw() noexcept { handed_over_ = 0; } // the queue pair is gone
    void connected() noexcept;
    void completed(const ibv_wc &completion) noexcept;
    // The queue pair is gone: flushes the receives.
    void flush() noexcept;

  private:
    [[nodiscard]] ReceiveQueue::Slot take(const ibv_wc &completion) noexcept;
    [[nodiscard]] bool is_registered(ReceiveQueue::Slot slot) noexcept;
    [[nodiscard]] bool is_solicited(const ibv_wc &completion) const noexcept;

    std::size_t handed_over_ = 0; // number of waiting receives that the queue pair has
};

} // namespace rsmengine
