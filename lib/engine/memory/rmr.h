// SPDX-License-Identifier: MIT
// Contract (transport.h): remote memory regions. The transport's class binds them (Transfer's
// post_bind) and says under which context peers know them.
#pragma once

#include "engine/core/types.h"
#include "engine/memory/lmr.h"
#include "engine/memory/pz.h"

namespace rsmengine {

class Rmr : public Object {
  public:
    static constexpr ObjectKind KIND = ObjectKind::RMR;

    ~Rmr() override { --pz->users; }

    // 0 if it is not bound.
    [[nodiscard]] virtual RemoteKey rmr_context() const noexcept = 0;

    Pz *pz;
    Lmr *lmr = nullptr; // bound to; counts in Lmr::bound_rmrs
    Segment triplet{};
    unsigned privileges = rights::NONE;

  protected:
    explicit Rmr(Pz &its) : Object(KIND, its.ia()), pz(&its) { ++pz->users; }

    // Bound to nothing.
    void leave_lmr() noexcept {
        if (lmr != nullptr)
            --std::exchange(lmr, nullptr)->bound_rmrs;
        triplet = {};
        privileges = rights::NONE;
    }
};

} // namespace rsmengine
