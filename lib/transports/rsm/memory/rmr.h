// SPDX-License-Identifier: MIT
// Remote memory regions: windows onto a part of an LMR.
#pragma once

#include "engine/memory/rmr.h"
#include "memory/contexts.h"

#include <memory>

namespace rsmdat {

class RsmRmr final : public Rmr {
  public:
    explicit RsmRmr(Pz &its);
    ~RsmRmr() override;

    // A bind is prepared at post (everything that can fail), takes effect when the EP's request
    // queue reaches it, and is dropped without effect if it is flushed: apply() or drop(), once.
    // The RMR may be freed in between; the LMR, which counts as bound from here on, may not.
    struct Prepared {
        std::shared_ptr<RsmRmr *> rmr; // points to null when the RMR has been freed
        Lmr *lmr = nullptr;            // null: unbind
        RsmRegion *region = nullptr;   // the new context's, not reachable by peers before apply()
        DAT_LMR_TRIPLET triplet{};
        DAT_MEM_PRIV_FLAGS privileges{};
    };
    // DAT_SUCCESS or the error of dat_rmr_bind, argument positions included.
    DAT_RETURN prepare(const DAT_LMR_TRIPLET &asked, DAT_MEM_PRIV_FLAGS allowed, const Pz *ep_pz,
                       Prepared &prepared);
    static void apply(Prepared &prepared) noexcept;
    static void drop(Prepared &prepared) noexcept;

    [[nodiscard]] DAT_RMR_CONTEXT rmr_context() const noexcept override {
        return region_ ? region_->rmr_context : 0;
    }

  private:
    DAT_RETURN prepare_bind(Lmr &to, const DAT_LMR_TRIPLET &asked, DAT_MEM_PRIV_FLAGS allowed,
                            Prepared &prepared) const;
    void unbind() noexcept;
    std::shared_ptr<RsmRmr *> self_;
    RsmRegion *region_ = nullptr; // null: unbound
};

} // namespace rsmdat
