// SPDX-License-Identifier: MIT
#include "transfer/srq.h"
#include "engine/core/own.h"

#include "memory/pz.h"
#include "transfer/work.h"

namespace rsmengine {
namespace {

// Queue pairs may outlive the Srq by a moment, and the queue may outlive the protection zone.
std::shared_ptr<ibv_srq> new_queue(VerbsSrq &srq, const Pz &pz, const SrqAttributes &attributes) {
    ibv_srq_init_attr asked{};
    asked.srq_context = &srq;
    asked.attr.max_wr = static_cast<std::uint32_t>(attributes.max_recv_dtos);
    asked.attr.max_sge = static_cast<std::uint32_t>(attributes.max_recv_iov);
    const auto &domain = own<VerbsPz>(pz).domain;
    Owned<ibv_srq, ibv_destroy_srq> made(::ibv_create_srq(domain.get(), &asked));
    if (!made)
        throw std::bad_alloc();
    return {made.release(), [domain](ibv_srq *last) { (void)::ibv_destroy_srq(last); }};
}

} // namespace

VerbsSrq::VerbsSrq(Pz &its, const SrqAttributes &asked)
    : Srq(its, asked), queue_(new_queue(*this, its, asked)) {}

// Events of the queue may still arrive: their context must not point to the freed Srq.
VerbsSrq::~VerbsSrq() {
    queue_->srq_context = nullptr;
}

Status VerbsSrq::posted() noexcept {
    const ReceiveQueue::Slot slot = buffers.take();
    Gathered pieces(buffers.pieces(slot), ia().limits.message);
    ibv_recv_wr work{};
    work.wr_id = number_of(Work::RECEIVE, slot);
    work.sg_list = pieces.list();
    work.num_sge = pieces.count();
    ibv_recv_wr *bad = nullptr;
    if (::ibv_post_srq_recv(queue_.get(), &work, &bad) == 0) {
        ++available_;
        return Status::OK;
    }
    buffers.release(slot);
    --outstanding;
    return Status::NO_MEMORY;
}

// Everything that can throw comes before the call of the device.
Status VerbsSrq::resize(Count max_recv_dtos) {
    if (!may_have(max_recv_dtos))
        return Status::WRONG_STATE;
    buffers.resize(max_recv_dtos, attributes.max_recv_iov);
    ibv_srq_attr wanted{};
    wanted.max_wr = static_cast<std::uint32_t>(max_recv_dtos);
    if (max_recv_dtos > attributes.max_recv_dtos &&
        ::ibv_modify_srq(queue_.get(), &wanted, IBV_SRQ_MAX_WR) != 0)
        return Status::NO_SRQS;
    attributes.max_recv_dtos = max_recv_dtos;
    return Status::OK;
}

ReceiveQueue::Slot VerbsSrq::taken(ReceiveQueue::Slot slot) noexcept {
    --available_;
    check_low_watermark();
    return slot;
}

void VerbsSrq::limit_reached() noexcept {
    limit_ = 0;
    report_low_watermark();
}

// Counts here, too, because not every device reports the limit of its SRQs.
void VerbsSrq::check_low_watermark() noexcept {
    if (!low_armed_)
        return;
    if (available_ < attributes.low_watermark)
        limit_reached();
    else if (attributes.low_watermark != limit_)
        limit_by_device();
}

void VerbsSrq::limit_by_device() noexcept {
    limit_ = attributes.low_watermark;
    ibv_srq_attr wanted{};
    wanted.srq_limit = static_cast<std::uint32_t>(limit_);
    (void)::ibv_modify_srq(queue_.get(), &wanted, IBV_SRQ_LIMIT);
}

} // namespace rsmengine
