// SPDX-License-Identifier: MIT
#include "memory/rmr.h"

#include "core/transport.h"
#include "engine/memory/bind.h"

#include <utility>

namespace rsmdat {

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

DAT_RETURN RsmRmr::prepare(const DAT_LMR_TRIPLET &asked, DAT_MEM_PRIV_FLAGS allowed,
                           const Pz *ep_pz, Prepared &prepared) {
    Lmr *to = nullptr;
    const DAT_RETURN status =
        check_bind(ia(), pz, ep_pz, asked, static_cast<unsigned>(allowed), to);
    if (status != DAT_SUCCESS)
        return status;
    prepared = {};
    prepared.rmr = self_;
    return to ? prepare_bind(*to, asked, allowed, prepared) : DAT_RETURN{DAT_SUCCESS};
}

DAT_RETURN RsmRmr::prepare_bind(Lmr &to, const DAT_LMR_TRIPLET &asked, DAT_MEM_PRIV_FLAGS allowed,
                                Prepared &prepared) const {
    const unsigned remote = remote_part(static_cast<unsigned>(allowed));
    RsmRegion *part = contexts_of(ia()).create(*pz, to.region->pinned, asked.virtual_address,
                                               asked.segment_length, remote, false);
    if (!part)
        return no_resource(DAT_RESOURCE_MEMORY);
    part->open = false;
    ++to.bound_rmrs;
    prepared = {self_, &to, part, asked, allowed};
    return DAT_SUCCESS;
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

} // namespace rsmdat
