// SPDX-License-Identifier: MIT
#include "engine/transfer/receives.h"

#include "engine/connect/ep.h"
#include "engine/transfer/srq.h"

namespace rsmengine {

void Receives::resize() {
    if (ep_.srq == nullptr)
        own_.resize(ep_.attributes.max_recv_dtos, ep_.attributes.max_recv_iov);
}

ReceiveQueue &Receives::buffers() noexcept {
    return ep_.srq != nullptr ? ep_.srq->buffers : own_;
}

Status Receives::may_post(const Post &post) const noexcept {
    if (ep_.srq)
        return Status::WRONG_STATE;
    if (post.segments < 0 || post.segments > ep_.attributes.max_recv_iov)
        return Status::BAD_SEGMENT_COUNT;
    if (post.segments > 0 && !post.iov)
        return Status::BAD_SEGMENT;
    const bool unsignalled =
        has_flag(ep_.attributes.recv_completion_flags, CompletionFlags::UNSIGNALLED);
    const CompletionFlags allowed =
        unsignalled ? CompletionFlags::UNSIGNALLED : CompletionFlags::DEFAULT;
    return without(post.flags, allowed) == CompletionFlags::DEFAULT ? Status::OK
                                                                    : Status::BAD_MESSAGE_FLAGS;
}

Status Receives::post(const Post &post) noexcept {
    Buffer buffer{.cookie = post.cookie, .flags = post.flags, .pieces = 0, .length = 0};
    Status result = may_post(post);
    if (result == Status::OK)
        result = ep_.ia().transport->contexts.gather(ep_.pz, post.segments, post.iov,
                                                     rights::LOCAL_WRITE, own_.room(),
                                                     buffer.pieces, buffer.length);
    if (result != Status::OK)
        return result;
    if (!ep_.recv_evd || in_use_ >= ep_.attributes.max_recv_dtos)
        return Status::NO_MEMORY;
    own_.post(buffer);
    ++in_use_;
    ever_posted_ = true;
    check_watermarks();
    return Status::OK;
}

void Receives::complete(ReceiveQueue::Slot slot, CompletionStatus status, std::uint64_t length,
                        bool solicited) noexcept {
    const Buffer buffer = buffers()[slot];
    buffers().release(slot);
    const bool unsolicited =
        has_flag(ep_.attributes.recv_completion_flags, CompletionFlags::SOLICITED) && !solicited;
    int &credit = ep_.srq ? ep_.srq->outstanding : in_use_;
    if (!ep_.recv_evd) {
        --credit;
        return;
    }
    const bool quiet = unsolicited || has_flag(buffer.flags, CompletionFlags::UNSIGNALLED);
    if (!ep_.recv_evd->deliver(
            Completion{ep_.handle(), buffer.cookie, status, length, quiet, &credit}))
        ep_.lost_event = true;
}

bool Receives::exceeds(Count watermark) const noexcept {
    return watermark != UNLIMITED && held() > watermark;
}

void Receives::check_watermarks() noexcept {
    if (soft_armed_ && exceeds(soft_)) {
        soft_armed_ = false;
        ep_.ia().report(EventKind::EP_WARNING, ep_.handle(), Reason::WATERMARK);
    }
    if (live_ && exceeds(hard_))
        failed_ = true;
}

void Receives::set_watermarks(Count soft, Count hard) noexcept {
    soft_ = soft;
    hard_ = hard;
    soft_armed_ = true;
    check_watermarks();
}

} // namespace rsmengine
