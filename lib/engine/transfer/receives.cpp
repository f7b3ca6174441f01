// SPDX-License-Identifier: MIT
#include "engine/transfer/receives.h"

#include "engine/connect/ep.h"
#include "engine/transfer/flags.h"
#include "engine/transfer/srq.h"

namespace rsmdat {

void Receives::resize() {
    if (ep_.srq == nullptr)
        own_.resize(ep_.attributes.max_recv_dtos, ep_.attributes.max_recv_iov);
}

ReceiveQueue &Receives::buffers() noexcept {
    return ep_.srq != nullptr ? ep_.srq->buffers : own_;
}

DAT_RETURN Receives::may_post(const Post &post) const noexcept {
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

DAT_RETURN Receives::post(const Post &post) noexcept {
    Buffer buffer{.cookie = post.cookie, .flags = post.flags, .pieces = 0, .length = 0};
    DAT_RETURN result = may_post(post);
    if (result == DAT_SUCCESS)
        result = ep_.ia().transport->contexts.gather(ep_.pz, post.segments, post.iov,
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

void Receives::complete(ReceiveQueue::Slot slot, DAT_DTO_COMPLETION_STATUS status,
                        std::uint64_t length, bool solicited) noexcept {
    const Buffer buffer = buffers()[slot];
    buffers().release(slot);
    const bool unsolicited =
        has_flag(ep_.attributes.recv_completion_flags, DAT_COMPLETION_SOLICITED_WAIT_FLAG) &&
        !solicited;
    int &credit = ep_.srq ? ep_.srq->outstanding : in_use_;
    if (!ep_.recv_evd) {
        --credit;
        return;
    }
    const bool quiet = unsolicited || has_flag(buffer.flags, DAT_COMPLETION_UNSIGNALLED_FLAG);
    if (!ep_.recv_evd->deliver(
            Completion{ep_.handle(), buffer.cookie, status, length, quiet, &credit}))
        ep_.lost_event = true;
}

bool Receives::exceeds(DAT_COUNT watermark) const noexcept {
    return watermark != DAT_WATERMARK_INFINITE && held() > watermark;
}

void Receives::check_watermarks() noexcept {
    if (soft_armed_ && exceeds(soft_)) {
        soft_armed_ = false;
        ep_.ia().report(DAT_ASYNC_ERROR_EP_BROKEN, ep_.handle(), DAT_SRQ_SOFT_HIGH_WATERMARK_EVENT);
    }
    if (live_ && exceeds(hard_))
        failed_ = true;
}

void Receives::set_watermarks(DAT_COUNT soft, DAT_COUNT hard) noexcept {
    soft_ = soft;
    hard_ = hard;
    soft_armed_ = true;
    check_watermarks();
}

} // namespace rsmdat
