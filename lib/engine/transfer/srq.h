// SPDX-License-Identifier: MIT
// Contract (transport.h): shared receive queues. The transport's class takes the buffers.
#pragma once

#include "engine/core/ia.h"
#include "engine/memory/pz.h"
#include "engine/transfer/receive_queue.h"

namespace rsmdat {

class Srq : public Object {
  public:
    static constexpr DAT_HANDLE_TYPE KIND = DAT_HANDLE_TYPE_SRQ;

    ~Srq() override { --pz->users; }

    DAT_RETURN post(DAT_COUNT segments, const DAT_LMR_TRIPLET *iov, DAT_DTO_COOKIE cookie) noexcept;
    DAT_RETURN set_low_watermark(DAT_COUNT count) noexcept;
    // DAT_SUCCESS, DAT_INVALID_STATE if it would be too small, DAT_INSUFFICIENT_RESOURCES. Throws
    // std::bad_alloc.
    virtual DAT_RETURN resize(DAT_COUNT max_recv_dtos) = 0;
    // Buffers that no message has taken, as far as can be known.
    [[nodiscard]] virtual DAT_COUNT available() noexcept = 0;

    Pz *pz;
    int eps = 0; // attached
    DAT_SRQ_ATTR attributes;
    ReceiveQueue buffers;
    int outstanding = 0; // posted, and their events not dequeued

  protected:
    // Throws std::bad_alloc.
    Srq(Pz &its, const DAT_SRQ_ATTR &asked);

    // Both kinds of resize() refuse a length for which this is false.
    [[nodiscard]] bool may_have(DAT_COUNT max_recv_dtos) const noexcept {
        return max_recv_dtos >= outstanding && max_recv_dtos >= attributes.low_watermark;
    }
    // There is a buffer: DAT_SUCCESS, or the error of dat_srq_post_recv, and it has been taken
    // back.
    virtual DAT_RETURN posted() noexcept = 0;
    // The async event, if it is armed and the buffers are so few.
    virtual void check_low_watermark() noexcept = 0;
    // That event, once for each time that it was armed.
    void report_low_watermark() noexcept;

    bool low_armed_ = false;
};

} // namespace rsmdat
