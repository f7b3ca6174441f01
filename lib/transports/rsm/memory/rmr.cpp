// SPDX-License-Identifier: MIT
#include "memory/rmr.h"

#include "core/transport.h"
#include "engine/memory/bind.h"

#include <utility>

namespace rsmengine {

RsmRmr::RsmRmr(Pz &its) : Rmr(its), self_(std::make_shared<RsmRmr *>(this)) {}

RsmRmr::~RsmRmr() {
    *self_ = nullptr;
    unbind();
}

void RsmRmr::unbind() noexcept {
    if (region_)
        contexts_of(ia()).destroy(*std::exchange(region_, nullptr));
    leave_lmr();
}

Status RsmRmr::prepare(const Segment &asked, unsigned allowed, const Pz *ep_pz,
                       Prepared &prepared) {
    Lmr *to = nullptr;
    const Status status = check_bind(ia(), pz, ep_pz, asked, allowed, to);
    if (status != Status::OK)
        return status;
    prepared = {};
    prepared.rmr = self_;
    return to ? prepare_bind(*to, asked, allowed, prepared) : Status::OK;
}

Status RsmRmr::prepare_bind(Lmr &to, const Segment &asked, unsigned allowed,
                            Prepared &prepared) const {
    const unsigned remote = remote_part(allowed);
    RsmRegion *part = contexts_of(ia()).create(*pz, to.region->pinned, asked.address, asked.length,
                                               remote, false);
    if (!part)
        return Status::NO_MEMORY;
    part->open = false;
    ++to.bound_rmrs;
    prepared = {self_, &to, part, asked, allowed};
    return Status::OK;
}

void RsmRmr::apply(Prepared &prepared) noexcept {
    RsmRmr *rmr = *prepared.rmr;
    if (!rmr)
        return drop(prepared);
    rmr->unbind();
    rmr->lmr = std::exchange(prepared.lmr, nullptr);
    rmr->region_ = std::exchange(prepared.region, nullptr);
    if (rmr->region_) {
        rmr->region_->open = true;
        rmr->triplet = prepared.triplet;
        rmr->privileges = prepared.privileges;
    }
    prepared.rmr.reset();
}

void RsmRmr::drop(Prepared &prepared) noexcept {
    if (prepared.region)
        contexts_of(prepared.lmr->ia()).destroy(*std::exchange(prepared.region, nullptr));
    if (prepared.lmr)
        --std::exchange(prepared.lmr, nullptr)->bound_rmrs;
    prepared.rmr.reset();
}

} // namespace rsmengine
