// SPDX-License-Identifier: MIT
#include "transfer/srq.h"

#include <utility>

namespace rsmdat {

Srq::Srq(Ia &ia, Pz &its, const DAT_SRQ_ATTR &asked)
    : Object(KIND, ia), pz(&its), attributes(asked) {
    buffers.resize(attributes.max_recv_dtos, attributes.max_recv_iov);
    ++pz->users;
}

Srq::~Srq() {
    --pz->users;
}

DAT_RETURN Srq::resize(DAT_COUNT max_recv_dtos) {
    if (max_recv_dtos < outstanding || max_recv_dtos < attributes.low_watermark)
        return invalid_state();
    buffers.resize(max_recv_dtos, attributes.max_recv_iov);
    attributes.max_recv_dtos = max_recv_dtos;
    return DAT_SUCCESS;
}

Buffers::Slot Srq::take() noexcept {
    const Buffers::Slot slot = buffers.take();
    check_low_watermark();
    return slot;
}

void Srq::check_low_watermark() noexcept {
    if (low_armed_ && available() < attributes.low_watermark) {
        low_armed_ = false;
        ia().report(DAT_ASYNC_ERROR_PROVIDER_INTERNAL_ERROR, handle(), DAT_SRQ_LOW_WATERMARK_EVENT);
    }
}

void Srq::wait(Waiter &waiter) noexcept {
    if (std::exchange(waiter.waits, true))
        return;
    Waiter **end = &first_;
    while (*end)
        end = &(*end)->behind;
    *end = &waiter;
}

void Srq::leave(Waiter &waiter) noexcept {
    if (!std::exchange(waiter.waits, false))
        return;
    Waiter **place = &first_;
    while (*place != &waiter)
        place = &(*place)->behind;
    *place = std::exchange(waiter.behind, nullptr);
}

// A waiter that is called takes a buffer or has no more use for one, and waits again only when
// there is none left.
DAT_RETURN Srq::posted() noexcept {
    while (first_ && available() > 0) {
        Waiter &waiter = *first_;
        leave(waiter);
        waiter.buffer_posted();
    }
    return DAT_SUCCESS;
}

} // namespace rsmdat
