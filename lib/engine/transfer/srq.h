// SPDX-License-Identifier: MIT
// Contract (transport.h): shared receive queues. The transport's class takes the buffers.
#pragma once

#include "engine/core/ia.h"
#include "engine/core/status.h"
#include "engine/core/types.h"
#include "engine/core/view.h"
#include "engine/memory/pz.h"
#include "engine/transfer/receive_queue.h"

namespace rsmengine {

struct SrqAttributes {
    Count max_recv_dtos;
    Count max_recv_iov;
    Count low_watermark; // 0: none
};

class Srq : public Object {
  public:
    static constexpr ObjectKind KIND = ObjectKind::SRQ;

    ~Srq() override { --pz->users; }

    Status post(Count segments, View<Segment> iov, Cookie cookie) noexcept;
    Status set_low_watermark(Count count) noexcept;
    // OK, WRONG_STATE if it would be too small, NO_MEMORY. Throws
    // std::bad_alloc.
    virtual Status resize(Count max_recv_dtos) = 0;
    // Buffers that no message has taken, as far as can be known.
    [[nodiscard]] virtual Count available() noexcept = 0;

    Pz *pz;
    int eps = 0; // attached
    SrqAttributes attributes;
    ReceiveQueue buffers;
    int outstanding = 0; // posted, and their events not dequeued

  protected:
    // Throws std::bad_alloc.
    Srq(Pz &its, const SrqAttributes &asked);

    // Both kinds of resize() refuse a length for which this is false.
    [[nodiscard]] bool may_have(Count max_recv_dtos) const noexcept {
        return max_recv_dtos >= outstanding && max_recv_dtos >= attributes.low_watermark;
    }
    // There is a buffer: OK, or the error of the post, and it has been taken back.
    virtual Status posted() noexcept = 0;
    // The async event, if it is armed and the buffers are so few.
    virtual void check_low_watermark() noexcept = 0;
    // That event, once for each time that it was armed.
    void report_low_watermark() noexcept;

    bool low_armed_ = false;
};

} // namespace rsmengine
