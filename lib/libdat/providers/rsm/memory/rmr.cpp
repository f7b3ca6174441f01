// SPDX-License-Identifier: MIT
#include "memory/rmr.h"

#include "memory/pz.h"

#include <utility>

namespace rsmdat {

namespace {

constexpr unsigned REMOTE = DAT_MEM_PRIV_REMOTE_READ_FLAG | DAT_MEM_PRIV_REMOTE_WRITE_FLAG;
constexpr unsigned DEFINED = DAT_MEM_PRIV_ALL_FLAG | DAT_MEM_PRIV_RO_DISABLE_FLAG;

// What peers are to be allowed the program must be.
DAT_RETURN check_privileges(unsigned remote, unsigned lmrs) noexcept {
    if ((remote & DAT_MEM_PRIV_REMOTE_READ_FLAG) != 0 && (lmrs & DAT_MEM_PRIV_LOCAL_READ_FLAG) == 0)
        return failure(DAT_PRIVILEGES_VIOLATION, DAT_PRIVILEGES_READ);
    if ((remote & DAT_MEM_PRIV_REMOTE_WRITE_FLAG) != 0 &&
        (lmrs & DAT_MEM_PRIV_LOCAL_WRITE_FLAG) == 0)
        return failure(DAT_PRIVILEGES_VIOLATION, DAT_PRIVILEGES_WRITE);
    return DAT_SUCCESS;
}

} // namespace

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
    if ((static_cast<unsigned>(allowed) & ~DEFINED) != 0)
        return invalid_parameter(3);
    prepared = {};
    if (asked.segment_length == 0) {
        if (pz != ep_pz)
            return failure(DAT_PROTECTION_VIOLATION);
        prepared.rmr = self_;
        return DAT_SUCCESS;
    }
    return prepare_bind(asked, static_cast<unsigned>(allowed), ep_pz, prepared);
}

DAT_RETURN Rmr::prepare_bind(const DAT_LMR_TRIPLET &asked, unsigned allowed, const Pz *ep_pz,
                             Prepared &prepared) const {
    Contexts &contexts = *ia().contexts;
    const Region *whole = contexts.find(asked.lmr_context);
    if (!whole || !whole->lmr || !whole->contains(asked.virtual_address, asked.segment_length))
        return invalid_parameter(2);
    if (pz != ep_pz || pz != whole->pz)
        return failure(DAT_PROTECTION_VIOLATION);
    const unsigned remote = allowed & REMOTE;
    if (const DAT_RETURN status = check_privileges(remote, whole->privileges);
        status != DAT_SUCCESS)
        return status;
    Region *part = contexts.create(*pz, whole->pinned, asked.virtual_address, asked.segment_length,
                                   remote, false);
    if (!part)
        return no_resource(DAT_RESOURCE_MEMORY);
    part->open = false;
    ++whole->lmr->bound_rmrs;
    prepared = {self_, whole->lmr, part, asked, static_cast<DAT_MEM_PRIV_FLAGS>(allowed)};
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
