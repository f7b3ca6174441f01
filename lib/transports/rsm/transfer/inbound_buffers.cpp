// SPDX-License-Identifier: MIT
// Receives: taken by a message, flushed.
#include "transfer/inbound.h"

#include "engine/connect/ep.h"

namespace rsmdat {

Inbound::~Inbound() {
    if (ep_.srq)
        ep_.srq->leave(*this);
    if (patience_ != 0)
        ep_.ia().engine->cancel(patience_);
}

void Inbound::resize() {
    const DAT_EP_ATTR &attributes = ep_.attributes;
    reads_.reserve(static_cast<std::size_t>(std::max(attributes.max_rdma_read_in, 1)));
    if (!ep_.srq)
        own_.resize(attributes.max_recv_dtos, attributes.max_recv_iov);
}

Buffers &Inbound::buffers() noexcept {
    return ep_.srq ? ep_.srq->buffers : own_;
}

const Pz *Inbound::pz() const noexcept {
    return ep_.srq ? ep_.srq->pz : ep_.pz;
}

DAT_COUNT Inbound::held() const noexcept {
    return static_cast<DAT_COUNT>(own_.waiting()) + (current_ ? 1 : 0);
}

bool Inbound::take_buffer() noexcept {
    Srq *srq = ep_.srq;
    if (buffers().waiting() == 0) {
        starving_ = true;
        if (srq)
            srq->wait(*this);
        return false;
    }
    current_ = srq ? srq->take() : own_.take();
    check_watermarks();
    return true;
}

void Inbound::buffer_posted() noexcept {
    ep_.transfer.progress();
}

void Inbound::complete_current(DAT_DTO_COMPLETION_STATUS status) noexcept {
    const Buffers::Slot slot = *current_;
    current_.reset();
    complete(slot, status, arriving_.total, arriving_.solicited);
}

void Inbound::flush() noexcept {
    live_ = failed_ = tired_ = starving_ = false;
    ask_.reset();
    fault_.reset();
    reads_.clear();
    if (ep_.srq)
        ep_.srq->leave(*this);
    if (patience_ != 0)
        ep_.ia().engine->cancel(std::exchange(patience_, 0));
    if (current_)
        complete_current(DAT_DTO_ERR_FLUSHED);
    while (own_.waiting() > 0)
        complete(own_.take(), DAT_DTO_ERR_FLUSHED, 0, true);
    arriving_ = {};
}

} // namespace rsmdat
