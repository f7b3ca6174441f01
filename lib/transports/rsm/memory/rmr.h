// SPDX-License-Identifier: MIT
// Remote memory regions: windows onto a part of an LMR.
#pragma once

#include "engine/core/status.h"
#include "engine/core/types.h"
#include "engine/memory/rmr.h"
#include "memory/contexts.h"

#include <memory>

namespace rsmengine {

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
        Segment triplet{};
        unsigned privileges{};
    };
    // OK or the error of the bind.
    Status prepare(const Segment &asked, unsigned allowed, const Pz *ep_pz, Prepared &prepared);
    static void apply(Prepared &prepared) noexcept;
    static void drop(Prepared &prepared) noexcept;

    [[nodiscard]] RemoteKey rmr_context() const noexcept override {
        return region_ ? region_->rmr_context : 0;
    }

  private:
    Status prepare_bind(Lmr &to, const Segment &asked, unsigned allowed, Prepared &prepared) const;
    void unbind() noexcept;
    std::shared_ptr<RsmRmr *> self_;
    RsmRegion *region_ = nullptr; // null: unbound
};

} // namespace rsmengine
