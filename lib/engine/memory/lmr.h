// SPDX-License-Identifier: MIT
// Local memory regions.
#pragma once

#include "engine/core/ia.h"
#include "engine/memory/contexts.h"

namespace rsmdat {

class Lmr final : public Object {
  public:
    static constexpr DAT_HANDLE_TYPE KIND = DAT_HANDLE_TYPE_LMR;

    // Takes over the region if it does not throw (std::bad_alloc).
    Lmr(Ia &ia, const DAT_LMR_PARAM &asked, Region &its);
    ~Lmr() override;

    DAT_LMR_PARAM param; // what dat_lmr_query answers; a shared cookie is kept in `cookie`
    char cookie[DAT_LMR_COOKIE_SIZE]{};
    Region *region;
    int bound_rmrs = 0; // and binds posted
};

} // namespace rsmdat
