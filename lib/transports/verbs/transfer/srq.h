// SPDX-License-Identifier: MIT
// Shared receive queues.
#pragma once

#include "engine/connect/ep.h"
#include "engine/core/own.h"
#include "engine/core/status.h"
#include "engine/core/types.h"
#include "engine/event/feeders.h"
#include "engine/transfer/srq.h"
#include "wire/rdma_device.h"

namespace rsmengine {

class VerbsSrq final : public Srq {
  public:
    // Throws std::bad_alloc.
    VerbsSrq(Pz &its, const SrqAttributes &asked);
    ~VerbsSrq() override;

    Status resize(Count max_recv_dtos) override;

    // Buffers that no queue pair has taken, as of the last poll of all their completion queues.
    [[nodiscard]] Count available() noexcept override {
        takers.poll(false);
        return available_;
    }
    // A queue pair has taken a buffer. Returns its slot, which is the argument.
    ReceiveQueue::Slot taken(ReceiveQueue::Slot slot) noexcept;
    // The device reports that the number of buffers is below the low watermark.
    void limit_reached() noexcept;
    // Each queue pair shares the ownership until it is destroyed.
    [[nodiscard]] const std::shared_ptr<ibv_srq> &queue() const noexcept { return queue_; }

    Feeders takers; // the attached EPs

  private:
    Status posted() noexcept override; // hands the buffer to the device
    void check_low_watermark() noexcept override;
    void limit_by_device() noexcept;

    const std::shared_ptr<ibv_srq> queue_;
    Count available_ = 0;
    Count limit_ = 0; // the limit that the device was asked to report
};

inline VerbsSrq *srq_of(const Ep &ep) noexcept {
    return own_or_null<VerbsSrq>(ep.srq);
}

} // namespace rsmengine
