// SPDX-License-Identifier: MIT
// Shared receive queues.
#pragma once

#include "engine/core/ia.h"
#include "engine/event/feeders.h"
#include "engine/transfer/buffers.h"
#include "memory/pz.h"
#include "wire/device.h"

namespace rsmdat {

class Srq final : public Object {
  public:
    static constexpr DAT_HANDLE_TYPE KIND = DAT_HANDLE_TYPE_SRQ;

    // Throws std::bad_alloc.
    Srq(Ia &ia, Pz &its, const DAT_SRQ_ATTR &asked);
    ~Srq() override;

    DAT_RETURN post(DAT_COUNT segments, const DAT_LMR_TRIPLET *iov, DAT_DTO_COOKIE cookie) noexcept;
    DAT_RETURN resize(DAT_COUNT max_recv_dtos);
    DAT_RETURN set_low_watermark(DAT_COUNT count) noexcept;

    // That no queue pair has told us it has taken, when all have been asked.
    [[nodiscard]] DAT_COUNT available() noexcept {
        takers.poll(false);
        return available_;
    }
    // A queue pair has taken a buffer; the same slot.
    Buffers::Slot taken(Buffers::Slot slot) noexcept;
    // The device says that the low watermark is passed.
    void limit_reached() noexcept;
    [[nodiscard]] ibv_srq &queue() const noexcept { return *queue_; }

    Pz *pz;
    int eps = 0; // attached
    DAT_SRQ_ATTR attributes;
    Buffers buffers;
    Feeders takers;      // the attached EPs
    int outstanding = 0; // posted, and their events not dequeued

  private:
    [[nodiscard]] DAT_RETURN posted() noexcept; // there is a buffer: the device gets it
    void check_low_watermark() noexcept;
    void limit_by_device() noexcept;

    Owned<ibv_srq, ibv_destroy_srq> queue_;
    DAT_COUNT available_ = 0;
    DAT_COUNT limit_ = 0; // of which the device is to tell us
    bool low_armed_ = false;
};

} // namespace rsmdat
