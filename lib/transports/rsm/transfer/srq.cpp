// SPDX-License-Identifier: MIT
#include "transfer/srq.h"

#include <utility>

namespace rsmengine {

Status RsmSrq::resize(Count max_recv_dtos) {
    if (!may_have(max_recv_dtos))
        return Status::WRONG_STATE;
    buffers.resize(max_recv_dtos, attributes.max_recv_iov);
    attributes.max_recv_dtos = max_recv_dtos;
    return Status::OK;
}

ReceiveQueue::Slot RsmSrq::take() noexcept {
    const ReceiveQueue::Slot slot = buffers.take();
    check_low_watermark();
    return slot;
}

void RsmSrq::check_low_watermark() noexcept {
    if (available() < attributes.low_watermark)
        report_low_watermark();
}

void RsmSrq::wait(Waiter &waiter) noexcept {
    if (std::exchange(waiter.waits, true))
        return;
    Waiter **end = &first_;
    while (*end)
        end = &(*end)->behind;
    *end = &waiter;
}

void RsmSrq::leave(Waiter &waiter) noexcept {
    if (!std::exchange(waiter.waits, false))
        return;
    Waiter **place = &first_;
    while (*place != &waiter)
        place = &(*place)->behind;
    *place = std::exchange(waiter.behind, nullptr);
}

// A waiter that is called takes a buffer or has no more use for one, and waits again only when
// there is none left.
Status RsmSrq::posted() noexcept {
    while (first_ && available() > 0) {
        Waiter &waiter = *first_;
        leave(waiter);
        waiter.buffer_posted();
    }
    return Status::OK;
}

} // namespace rsmengine
