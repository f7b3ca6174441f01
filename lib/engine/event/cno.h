// SPDX-License-Identifier: MIT
// Consumer notification objects: one place to wait for several EVDs.
#pragma once

#include "engine/core/ia.h"
#include "engine/core/status.h"
#include "engine/core/types.h"
#include "engine/event/futex.h"
#include "engine/event/spin.h"

#include <vector>

namespace rsmengine {

class Evd;

class Cno final : public Object {
  public:
    static constexpr ObjectKind KIND = ObjectKind::CNO;

    Cno(Ia &ia, Agent wait_agent);
    ~Cno() override;

    // An event that notifies arrived on an enabled EVD without a waiter. The agent runs on the
    // engine's thread, without Ia::lock.
    void trigger(Evd &evd) noexcept;
    void attach(Evd &evd); // throws std::bad_alloc
    void detach(Evd &evd) noexcept;
    Status wait(Guard &guard, Timeout timeout, Handle &evd) noexcept;
    void release() noexcept; // wakes all waiters, which return without an EVD
    [[nodiscard]] bool in_use() const noexcept { return !evds_.empty() || waiters_ > 0; }
    [[nodiscard]] unsigned waiters() const noexcept { return waiters_; }

    // True if the agent is running on another thread. It must not be replaced then: call
    // await_agent and look the handle up again.
    [[nodiscard]] bool agent_busy() const noexcept;
    void await_agent(Guard &guard) noexcept;

    Agent agent;

  private:
    struct Wait;
    void call_agent(Evd &evd) noexcept;
    static void run_agent(Handle handle) noexcept;
    [[nodiscard]] Evd *next_call() noexcept;
    void agent_returned() noexcept;
    [[nodiscard]] Evd *scan() noexcept;
    [[nodiscard]] bool has_feeders() const noexcept;
    void poll(bool again) noexcept;
    bool take(Handle &evd) noexcept;
    Status await(Wait &wait, Handle &evd) noexcept;
    Status last_look(Handle &evd) noexcept;
    Futex::Wake sleep(Wait &wait) noexcept;

    std::vector<Evd *> evds_;
    std::size_t scanned_ = 0; // where the next scan begins
    Futex futex_;
    SpinPolicy spin_policy_;
    unsigned triggers_ = 0; // not reported yet; at most one for each waiter, or one
    Evd *last_ = nullptr;   // the EVD that triggered last; null if it is gone
    unsigned releases_ = 0; // the number of calls of release()
    unsigned waiters_ = 0;
    bool agent_due_ = false; // the engine is going to call run_agent
    bool agent_runs_ = false;
};

} // namespace rsmengine
