// SPDX-License-Identifier: MIT
#include "transfer/receives.h"

#include "core/transport.h"
#include "engine/connect/ep.h"
#include "memory/contexts.h"
#include "transfer/srq.h"
#include "wire/rdma_device.h"

#include <algorithm>

namespace rsmengine {
namespace {

// Soft RoCE calls a receive malformed, be it that a message does not fit or that the receive's
// memory is not registered any more. Nothing else can be wrong with one that was checked when it
// was posted.
CompletionStatus status_of_receive(ibv_wc_status status, bool registered) noexcept {
    if (status != IBV_WC_LOC_QP_OP_ERR)
        return status_of(status);
    return status_of(registered ? IBV_WC_LOC_LEN_ERR : IBV_WC_LOC_PROT_ERR);
}

} // namespace

bool VerbsReceives::start(ibv_qp &qp, std::size_t most) noexcept {
    for (; has_backlog() && handed_over_ < most; ++handed_over_) {
        Gathered pieces(own_.pieces(own_.peek(handed_over_)), ep_.ia().limits.message);
        ibv_recv_wr work{};
        work.wr_id = number_of(Work::RECEIVE);
        work.sg_list = pieces.list();
        work.num_sge = pieces.count();
        ibv_recv_wr *bad = nullptr;
        if (::ibv_post_recv(&qp, &work, &bad) != 0)
            return false;
    }
    return true;
}

void VerbsReceives::connected() noexcept {
    live_ = true;
    check_watermarks();
}

ReceiveQueue::Slot VerbsReceives::take(const ibv_wc &completion) noexcept {
    if (ep_.srq != nullptr)
        return srq_of(ep_)->taken(slot_of(completion.wr_id));
    --handed_over_;
    return own_.take();
}

// Whether all of a receive's memory still is.
bool VerbsReceives::is_registered(ReceiveQueue::Slot slot) noexcept {
    const auto pieces = buffers().pieces(slot);
    return std::ranges::all_of(pieces, [this](const Segment &piece) {
        const Region *region = ep_.ia().transport->contexts.find(piece.key);
        return region != nullptr && region->contains(piece.address, piece.length);
    });
}

// Where no word can come with a send all are.
bool VerbsReceives::is_solicited(const ibv_wc &completion) const noexcept {
    return !transport_of(ep_.ia()).device->has_immediates() ||
           (completion.wc_flags & IBV_WC_WITH_IMM) != 0;
}

// Own receives that the device flushes are left until all are; the SRQ's are known only now.
void VerbsReceives::completed(const ibv_wc &completion) noexcept {
    const bool good = completion.status == IBV_WC_SUCCESS;
    const bool flushed = completion.status == IBV_WC_WR_FLUSH_ERR;
    failed_ |= !good;
    if (ep_.srq == nullptr && (flushed || own_.waiting() == 0))
        return;
    const ReceiveQueue::Slot slot = take(completion);
    if (ep_.srq != nullptr)
        current_ = slot;
    check_watermarks();
    current_.reset();
    if (good)
        complete(slot, CompletionStatus::OK, completion.byte_len, is_solicited(completion));
    else
        complete(slot, status_of_receive(completion.status, is_registered(slot)), 0, false);
}

void VerbsReceives::flush() noexcept {
    live_ = failed_ = false;
    handed_over_ = 0;
    while (own_.waiting() > 0)
        complete(own_.take(), CompletionStatus::FLUSHED, 0, false);
}

} // namespace rsmengine
