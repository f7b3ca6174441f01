// SPDX-License-Identifier: MIT
#include "engine/memory/bind.h"

#include "engine/transport.h"

namespace rsmdat {

namespace {

constexpr unsigned DEFINED = DAT_MEM_PRIV_ALL_FLAG | DAT_MEM_PRIV_RO_DISABLE_FLAG;

// The program must have the rights that peers are to get.
DAT_RETURN check_privileges(unsigned remote, unsigned lmrs) noexcept {
    if ((remote & DAT_MEM_PRIV_REMOTE_READ_FLAG) != 0 && (lmrs & DAT_MEM_PRIV_LOCAL_READ_FLAG) == 0)
        return failure(DAT_PRIVILEGES_VIOLATION, DAT_PRIVILEGES_READ);
    if ((remote & DAT_MEM_PRIV_REMOTE_WRITE_FLAG) != 0 &&
        (lmrs & DAT_MEM_PRIV_LOCAL_WRITE_FLAG) == 0)
        return failure(DAT_PRIVILEGES_VIOLATION, DAT_PRIVILEGES_WRITE);
    return DAT_SUCCESS;
}

} // namespace

DAT_RETURN check_bind(const Ia &ia, const Pz *rmr_pz, const Pz *ep_pz, const DAT_LMR_TRIPLET &asked,
                      unsigned allowed, Lmr *&lmr) noexcept {
    lmr = nullptr;
    if ((allowed & ~DEFINED) != 0)
        return invalid_parameter(3);
    if (asked.segment_length == 0)
        return rmr_pz == ep_pz ? DAT_RETURN{DAT_SUCCESS} : failure(DAT_PROTECTION_VIOLATION);
    const Region *whole = ia.transport->contexts.find(asked.lmr_context);
    if (!whole || !whole->lmr || !whole->contains(asked.virtual_address, asked.segment_length))
        return invalid_parameter(2);
    if (rmr_pz != ep_pz || rmr_pz != whole->pz)
        return failure(DAT_PROTECTION_VIOLATION);
    lmr = whole->lmr;
    return check_privileges(allowed, whole->privileges);
}

} // namespace rsmdat
