// SPDX-License-Identifier: MIT
// Remote memory regions: memory windows of type 1, which serve all queue pairs of the protection
// zone.
#pragma once

#include "engine/core/status.h"
#include "engine/core/types.h"
#include "engine/memory/rmr.h"

#include <infiniband/verbs.h>
#include <memory>

namespace rsmengine {

class VerbsRmr final : public Rmr {
  public:
    explicit VerbsRmr(Pz &its); // throws std::bad_alloc
    ~VerbsRmr() override;

    // A bind is prepared at post (everything that can fail) and handed to the queue pair. When that
    // has carried it out, apply(); if it was flushed nobody knows whether it was: drop() leaves the
    // RMR unbound. The RMR may be freed in between; the LMR, which counts as bound from here on,
    // may not.
    struct Prepared {
        std::shared_ptr<VerbsRmr *> rmr; // points to null when the RMR is gone
        std::shared_ptr<ibv_mw> window;
        Lmr *lmr = nullptr;              // null: unbind
        std::shared_ptr<Pinned> unbound; // of an unbind: from what; null: from nothing
        Segment triplet{};
        unsigned privileges{};
    };
    // OK or the error of the bind. Throws std::bad_alloc.
    Status prepare(const Segment &asked, unsigned allowed, const Pz *ep_pz, Prepared &prepared);
    // True for an unbind of an RMR that is not bound: the device gets nothing.
    [[nodiscard]] static bool is_void(const Prepared &prepared) noexcept {
        return prepared.lmr == nullptr && !prepared.unbound;
    }
    // Posts the bind to the queue pair; 0 or an errno value.
    static int post(const Prepared &prepared, ibv_qp &qp, std::uint64_t number,
                    unsigned flags) noexcept;
    static void cancel(Prepared &prepared) noexcept; // never handed over
    static void apply(Prepared &prepared) noexcept;
    static void drop(Prepared &prepared) noexcept;

    [[nodiscard]] RemoteKey rmr_context() const noexcept override {
        return lmr != nullptr ? window_->rkey : 0;
    }

  private:
    std::shared_ptr<VerbsRmr *> self_;
    std::shared_ptr<ibv_mw> window_; // null after a flushed bind
    std::shared_ptr<Pinned> last_;   // what it will be bound to when all binds are done
};

} // namespace rsmengine
