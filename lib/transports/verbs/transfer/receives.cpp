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

// Soft RoCE reports IBV_WC_LOC_QP_OP_ERR both for a message that is longer than the receive and for
// a receive whose memory is not registered any more. Other errors are impossible: the post checked
// the receive.
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

// True if all memory of a receive is still registered.
bool VerbsReceives::is_registered(ReceiveQueue::Slot slot) noexcept {
    const auto pieces = buffers().pieces(slot);
    return std::ranges::all_of(pieces, [this](const Segment &piece) {
        const Region *region = ep_.ia().transport->contexts.find(piece.key);
        return region != nullptr && region->contains(piece.address, piece.length);
    });
}

// If sends cannot carry immediate data, every send counts as solicited.
bool VerbsReceives::is_solicited(const ibv_wc &completion) const noexcept {
    return !transport_of(ep_.ia()).device->has_immediates() ||
           (completion.wc_flags & IBV_WC_WITH_IMM) != 0;
}

// flush() completes own receives that the device flushes. Only a completion names an SRQ's receive.
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
