// SPDX-License-Identifier: MIT
#include "transfer/srq.h"

#include "memory/contexts.h"

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

DAT_RETURN Srq::post(DAT_COUNT segments, const DAT_LMR_TRIPLET *iov,
                     DAT_DTO_COOKIE cookie) noexcept {
    if (segments < 0 || segments > attributes.max_recv_iov)
        return invalid_parameter(2);
    if (segments > 0 && !iov)
        return invalid_parameter(3);
    Buffer buffer{.cookie = cookie, .flags = DAT_COMPLETION_DEFAULT_FLAG, .pieces = 0, .length = 0};
    const DAT_RETURN result =
        ia().contexts->gather(pz, segments, iov, DAT_MEM_PRIV_LOCAL_WRITE_FLAG, buffers.room(),
                              buffer.pieces, buffer.length);
    if (result != DAT_SUCCESS)
        return result;
    if (outstanding >= attributes.max_recv_dtos)
        return no_resource(DAT_RESOURCE_MEMORY);
    buffers.post(buffer);
    ++outstanding;
    feed_waiters();
    return DAT_SUCCESS;
}

DAT_RETURN Srq::resize(DAT_COUNT max_recv_dtos) {
    if (max_recv_dtos < outstanding || max_recv_dtos < attributes.low_watermark)
        return invalid_state();
    buffers.resize(max_recv_dtos, attributes.max_recv_iov);
    attributes.max_recv_dtos = max_recv_dtos;
    return DAT_SUCCESS;
}

DAT_RETURN Srq::set_low_watermark(DAT_COUNT count) noexcept {
    if (count < 0 || count > attributes.max_recv_dtos)
        return invalid_parameter(2);
    attributes.low_watermark = count;
    low_armed_ = true;
    check_low_watermark();
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

// Whoever is called takes a buffer or has no more use for one, and waits again only when there is
// none left.
void Srq::feed_waiters() noexcept {
    while (first_ && available() > 0) {
        Waiter &waiter = *first_;
        leave(waiter);
        waiter.buffer_posted();
    }
}

} // namespace rsmdat
