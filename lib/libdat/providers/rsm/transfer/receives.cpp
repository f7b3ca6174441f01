// SPDX-License-Identifier: MIT
// Receives: posted, taken by a message, completed.
#include "transfer/inbound.h"

#include "connect/ep.h"
#include "transfer/completion.h"

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

DAT_RETURN Inbound::may_post(const Post &post) const noexcept {
    if (ep_.srq)
        return invalid_state();
    if (post.segments < 0 || post.segments > ep_.attributes.max_recv_iov)
        return invalid_parameter(2);
    if (post.segments > 0 && !post.iov)
        return invalid_parameter(3);
    const unsigned allowed = ep_.attributes.recv_completion_flags &
                             static_cast<unsigned>(DAT_COMPLETION_UNSIGNALLED_FLAG);
    if ((static_cast<unsigned>(post.flags) & ~allowed) != 0)
        return invalid_parameter(5);
    return DAT_SUCCESS;
}

DAT_RETURN Inbound::post(const Post &post) noexcept {
    Buffer buffer{.cookie = post.cookie, .flags = post.flags, .pieces = 0, .length = 0};
    DAT_RETURN result = may_post(post);
    if (result == DAT_SUCCESS)
        result = ep_.ia().contexts->gather(ep_.pz, post.segments, post.iov,
                                           DAT_MEM_PRIV_LOCAL_WRITE_FLAG, own_.room(),
                                           buffer.pieces, buffer.length);
    if (result != DAT_SUCCESS)
        return result;
    if (!ep_.recv_evd || in_use_ >= ep_.attributes.max_recv_dtos)
        return no_resource(DAT_RESOURCE_MEMORY);
    own_.post(buffer);
    ++in_use_;
    ever_posted_ = true;
    check_watermarks();
    return DAT_SUCCESS;
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
    complete(slot, status, arriving_.total);
}

void Inbound::complete(Buffers::Slot slot, DAT_DTO_COMPLETION_STATUS status,
                       std::uint64_t length) noexcept {
    const Buffer buffer = buffers()[slot];
    buffers().release(slot);
    const bool unsolicited =
        has_flag(ep_.attributes.recv_completion_flags, DAT_COMPLETION_SOLICITED_WAIT_FLAG) &&
        !arriving_.solicited;
    int &credit = ep_.srq ? ep_.srq->outstanding : in_use_;
    if (!ep_.recv_evd) {
        --credit;
        return;
    }
    ep_.recv_evd->deliver(arrival_of(
        {ep_.handle(), buffer.cookie, status, length,
         unsolicited || has_flag(buffer.flags, DAT_COMPLETION_UNSIGNALLED_FLAG), &credit}));
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
        complete(own_.take(), DAT_DTO_ERR_FLUSHED, 0);
    arriving_ = {};
}

bool Inbound::exceeds(DAT_COUNT watermark) const noexcept {
    return watermark != DAT_WATERMARK_INFINITE && held() > watermark;
}

void Inbound::check_watermarks() noexcept {
    if (soft_armed_ && exceeds(soft_)) {
        soft_armed_ = false;
        ep_.ia().report(DAT_ASYNC_ERROR_EP_BROKEN, ep_.handle(), DAT_SRQ_SOFT_HIGH_WATERMARK_EVENT);
    }
    if (live_ && exceeds(hard_))
        failed_ = true;
}

void Inbound::set_watermarks(DAT_COUNT soft, DAT_COUNT hard) noexcept {
    soft_ = soft;
    hard_ = hard;
    soft_armed_ = true;
    check_watermarks();
}

} // namespace rsmdat
