// SPDX-License-Identifier: MIT
// Shared receive queues.
#pragma once

#include "engine/connect/ep.h"
#include "engine/core/own.h"
#include "engine/core/status.h"
#include "engine/core/types.h"
#include "engine/transfer/srq.h"

namespace rsmengine {

class RsmSrq final : public Srq {
  public:
    // An EP with a message and no buffer for it.
    class Waiter {
      public:
        Waiter() noexcept = default;
        Waiter(const Waiter &) = delete;
        Waiter &operator=(const Waiter &) = delete;
        virtual void buffer_posted() noexcept = 0;

        // The Srq's.
        Waiter *behind = nullptr;
        bool waits = false;

      protected:
        ~Waiter() = default;
    };

    // Throws std::bad_alloc.
    RsmSrq(Pz &its, const SrqAttributes &asked) : Srq(its, asked) {}

    Status resize(Count max_recv_dtos) override;
    [[nodiscard]] Count available() noexcept override {
        return static_cast<Count>(buffers.waiting());
    }
    // The oldest buffer; there is one.
    ReceiveQueue::Slot take() noexcept;
    // buffer_posted() is called, once, when there is a buffer.
    void wait(Waiter &waiter) noexcept;
    void leave(Waiter &waiter) noexcept;

  private:
    Status posted() noexcept override; // passes the buffer to a waiter
    void check_low_watermark() noexcept override;

    Waiter *first_ = nullptr; // the one that has waited longest
};

inline RsmSrq *srq_of(const Ep &ep) noexcept {
    return own_or_null<RsmSrq>(ep.srq);
}

} // namespace rsmengine
