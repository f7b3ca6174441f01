// SPDX-License-Identifier: MIT
#include "memory/rmr.h"

#include "engine/memory/bind.h"
#include "memory/pz.h"

#include <utility>

namespace rsmdat {

Rmr::Rmr(Ia &ia, Pz &its) : Object(KIND, ia), pz(&its), self_(std::make_shared<Rmr *>(this)) {
    ++pz->users;
}

Rmr::~Rmr() {
    *self_ = nullptr;
    unbind();
    --pz->users;
}

void Rmr::unbind() noexcept {
    if (region)
        ia().contexts->destroy(*std::exchange(region, nullptr));
    if (lmr)
        --std::exchange(lmr, nullptr)->bound_rmrs;
    triplet = {};
    privileges = DAT_MEM_PRIV_NONE_FLAG;
}

DAT_RETURN Rmr::prepare(const DAT_LMR_TRIPLET &asked, DAT_MEM_PRIV_FLAGS allowed, const Pz *ep_pz,
                        Prepared &prepared) {
    Lmr *to = nullptr;
    const DAT_RETURN status =
        check_bind(ia(), pz, ep_pz, asked, static_cast<unsigned>(allowed), to);
    if (status != DAT_SUCCESS)
        return status;
    prepared = {};
    prepared.rmr = self_;
    return to ? prepare_bind(*to, asked, allowed, prepared) : DAT_RETURN{DAT_SUCCESS};
}

DAT_RETURN Rmr::prepare_bind(Lmr &to, const DAT_LMR_TRIPLET &asked, DAT_MEM_PRIV_FLAGS allowed,
                             Prepared &prepared) const {
    const unsigned remote = remote_part(static_cast<unsigned>(allowed));
    Region *part = ia().contexts->create(*pz, to.region->pinned, asked.virtual_address,
                                         asked.segment_length, remote, false);
    if (!part)
        return no_resource(DAT_RESOURCE_MEMORY);
    part->open = false;
    ++to.bound_rmrs;
    prepared = {self_, &to, part, asked, allowed};
    return DAT_SUCCESS;
}

void Rmr::apply(Prepared &prepared) noexcept {
    Rmr *rmr = *prepared.rmr;
    if (!rmr)
        return drop(prepared);
    rmr->unbind();
    rmr->lmr = std::exchange(prepared.lmr, nullptr);
    rmr->region = std::exchange(prepared.region, nullptr);
    if (rmr->region) {
        rmr->region->open = true;
        rmr->triplet = prepared.triplet;
        rmr->privileges = prepared.privileges;
    }
    prepared.rmr.reset();
}

void Rmr::drop(Prepared &prepared) noexcept {
    if (prepared.region)
        prepared.lmr->ia().contexts->destroy(*std::exchange(prepared.region, nullptr));
    if (prepared.lmr)
        --std::exchange(prepared.lmr, nullptr)->bound_rmrs;
    prepared.rmr.reset();
}

} // namespace rsmdat
