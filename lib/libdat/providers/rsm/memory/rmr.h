// SPDX-License-Identifier: MIT
// Remote memory regions: windows onto a part of an LMR.
#pragma once

#include "memory/lmr.h"

namespace rsmdat {

class Rmr final : public Object {
  public:
    static constexpr DAT_HANDLE_TYPE KIND = DAT_HANDLE_TYPE_RMR;

    Rmr(Ia &ia, Pz &pz);
    ~Rmr() override;

    // A bind is prepared at post (everything that can fail), takes effect when the EP's request queue
    // reaches it, and is dropped without effect if it is flushed.
    struct Prepared {
        Rmr *rmr = nullptr;
        Lmr *lmr = nullptr;       // null: unbind
        Region *region = nullptr; // the new context's, not reachable by peers before apply()
        DAT_LMR_TRIPLET triplet{};
        DAT_MEM_PRIV_FLAGS privileges{};
    };
    // DAT_SUCCESS or the error of dat_rmr_bind, argument positions included.
    DAT_RETURN prepare(const DAT_LMR_TRIPLET &triplet, DAT_MEM_PRIV_FLAGS privileges, const Pz *ep_pz,
                       Prepared &prepared);
    void apply(Prepared &prepared) noexcept;
    void drop(Prepared &prepared) noexcept;

    Pz *pz;
    Lmr *lmr = nullptr;       // bound to
    Region *region = nullptr; // null: unbound
    DAT_LMR_TRIPLET triplet{};
    DAT_MEM_PRIV_FLAGS privileges = DAT_MEM_PRIV_NONE_FLAG;
    int pending = 0; // binds posted and not yet carried out
};

} // namespace rsmdat
