// SPDX-License-Identifier: MIT
// Consumer notification objects: one place to wait for several EVDs.
#pragma once

#include "core/ia.h"
#include "event/futex.h"

namespace rsmdat {

class Evd;

class Cno final : public Object {
  public:
    static constexpr DAT_HANDLE_TYPE KIND = DAT_HANDLE_TYPE_CNO;

    Cno(Ia &ia, DAT_OS_WAIT_PROXY_AGENT agent);
    ~Cno() override;

    // An event that notifies arrived on an enabled EVD without a waiter. The agent runs on the engine's
    // thread, without Ia::lock.
    void trigger(Evd &evd) noexcept;
    void attach(Evd &evd);
    void detach(Evd &evd) noexcept;
    DAT_RETURN wait(Guard &guard, DAT_TIMEOUT timeout, DAT_EVD_HANDLE &evd);
    [[nodiscard]] bool in_use() const noexcept;

    DAT_OS_WAIT_PROXY_AGENT agent;

  private:
    // P1 decides
};

} // namespace rsmdat
