// SPDX-License-Identifier: MIT
#include "memory/rmr.h"

#include "device/uncancelled.h"
#include "engine/core/own.h"
#include "engine/memory/bind.h"
#include "memory/access.h"
#include "memory/contexts.h"
#include "memory/pz.h"
#include "wire/rdma_device.h"

#include <utility>

namespace rsmengine {

namespace {

// The window, which a pending bind shares, owns the protection domain, too.
std::shared_ptr<ibv_mw> new_window(const Pz &zone) {
    const auto &pz = own<VerbsPz>(zone);
    Owned<ibv_mw, ibv_dealloc_mw> made(::ibv_alloc_mw(pz.domain.get(), IBV_MW_TYPE_1));
    if (!made)
        throw std::bad_alloc();
    return {made.release(), [domain = pz.domain](ibv_mw *last) { (void)::ibv_dealloc_mw(last); }};
}

} // namespace

VerbsRmr::VerbsRmr(Pz &its)
    : Rmr(its), self_(std::make_shared<VerbsRmr *>(this)), window_(new_window(its)) {}

VerbsRmr::~VerbsRmr() {
    *self_ = nullptr;
    window_.reset();
    leave_lmr();
}

Status VerbsRmr::prepare(const Segment &asked, unsigned allowed, const Pz *ep_pz,
                         Prepared &prepared) {
    Lmr *to = nullptr;
    const Status status = check_bind(ia(), pz, ep_pz, asked, allowed, to);
    if (status != Status::OK)
        return status;
    if (to != nullptr && !memory_of(*to->region).bindable)
        return Status::RIGHT_TO_WRITE_MISSING;
    if (!window_)
        window_ = new_window(*pz);
    prepared = {self_, window_, to, to != nullptr ? nullptr : last_, asked, allowed};
    if (to != nullptr)
        ++to->bound_rmrs;
    return Status::OK;
}

// An unbind has length 0. Soft RoCE's library requires that it names the memory region, too.
int VerbsRmr::post(const Prepared &prepared, ibv_qp &qp, std::uint64_t number,
                   unsigned flags) noexcept {
    const auto &memory = prepared.lmr != nullptr ? prepared.lmr->region->pinned : prepared.unbound;
    ibv_mw_bind bind{};
    bind.wr_id = number;
    bind.send_flags = flags;
    bind.bind_info.mr = own<VerbsPinned>(*memory).keys.get();
    if (prepared.lmr != nullptr) {
        bind.bind_info.addr = prepared.triplet.address;
        bind.bind_info.length = prepared.triplet.length;
        bind.bind_info.mw_access_flags =
            remote_access_of(static_cast<unsigned>(prepared.privileges));
    }
    const rsmdev::Uncancelled uncancelled; // rxe: a system call
    const int error = ::ibv_bind_mw(&qp, prepared.window.get(), &bind);
    if (error == 0)
        (*prepared.rmr)->last_ = prepared.lmr != nullptr ? memory : nullptr;
    return error;
}

void VerbsRmr::cancel(Prepared &prepared) noexcept {
    if (prepared.lmr != nullptr)
        --prepared.lmr->bound_rmrs;
    prepared = {};
}

void VerbsRmr::apply(Prepared &prepared) noexcept {
    VerbsRmr *rmr = *prepared.rmr;
    if (rmr == nullptr)
        return drop(prepared);
    rmr->leave_lmr();
    rmr->lmr = std::exchange(prepared.lmr, nullptr);
    if (rmr->lmr != nullptr) {
        rmr->triplet = prepared.triplet;
        rmr->privileges = prepared.privileges;
    }
    prepared = {};
}

// Destroy the window, which ends its binding, before the LMR may be freed.
void VerbsRmr::drop(Prepared &prepared) noexcept {
    Lmr *to = prepared.lmr;
    if (VerbsRmr *rmr = *prepared.rmr; rmr != nullptr && rmr->window_ == prepared.window) {
        rmr->window_.reset();
        rmr->last_.reset();
        rmr->leave_lmr();
    }
    prepared = {};
    if (to != nullptr)
        --to->bound_rmrs;
}

} // namespace rsmengine
