// SPDX-License-Identifier: MIT
#include "engine/memory/bind.h"

#include "engine/transport.h"

namespace rsmengine {

namespace {

constexpr unsigned DEFINED = rights::ALL | rights::STRICT_ORDER;

// The program must have the rights that peers are to get.
Status check_privileges(unsigned remote, unsigned lmrs) noexcept {
    if ((remote & rights::REMOTE_READ) != 0 && (lmrs & rights::LOCAL_READ) == 0)
        return Status::RIGHT_TO_READ_MISSING;
    if ((remote & rights::REMOTE_WRITE) != 0 && (lmrs & rights::LOCAL_WRITE) == 0)
        return Status::RIGHT_TO_WRITE_MISSING;
    return Status::OK;
}

} // namespace

Status check_bind(const Ia &ia, const Pz *rmr_pz, const Pz *ep_pz, const Segment &asked,
                  unsigned allowed, Lmr *&lmr) noexcept {
    lmr = nullptr;
    if ((allowed & ~DEFINED) != 0)
        return Status::BAD_WINDOW_RIGHTS;
    if (asked.length == 0)
        return rmr_pz == ep_pz ? Status::OK : Status::ZONES_DIFFER;
    const Region *whole = ia.transport->contexts.find(asked.key);
    if (!whole || !whole->lmr || !whole->contains(asked.address, asked.length))
        return Status::BAD_WINDOW;
    if (rmr_pz != ep_pz || rmr_pz != whole->pz)
        return Status::ZONES_DIFFER;
    lmr = whole->lmr;
    return check_privileges(allowed, whole->privileges);
}

} // namespace rsmengine
