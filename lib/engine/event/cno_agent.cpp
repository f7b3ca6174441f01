// SPDX-License-Identifier: MIT
// The consumer's function that is called for each trigger.
#include "engine/event/cno.h"

#include "engine/event/evd.h"
#include "engine/loop/engine.h"

#include <algorithm>

namespace rsmdat {

namespace {

// Whose agent this thread is in.
thread_local DAT_CNO_HANDLE inside_agent_of = nullptr;

} // namespace

// Without memory for the engine's list the next trigger brings this one, too.
void Cno::call_agent(Evd &evd) noexcept {
    ++evd.agent_calls;
    if (agent_due_)
        return;
    try {
        ia().engine->later([cno = handle()] { run_agent(cno); });
        agent_due_ = true;
    } catch (const std::bad_alloc &) {
        return;
    }
}

// An agent may do what it likes to its Cno and even to the Ia: nothing is kept while it runs.
void Cno::run_agent(DAT_CNO_HANDLE handle) noexcept {
    while (auto cno = enter<Cno>(handle)) {
        cno->agent_returned();
        const Evd *evd = cno->next_call();
        cno->agent_due_ = evd != nullptr;
        if (!evd)
            return;
        auto *const about = evd->handle();
        const auto agent = cno->agent;
        cno->agent_runs_ = true;
        cno.guard.unlock();
        inside_agent_of = handle;
        agent.proxy_agent_func(agent.instance_data, about);
        inside_agent_of = nullptr;
    }
}

// An EVD that the agent is to be called for, once.
Evd *Cno::next_call() noexcept {
    const auto due = [](const Evd *evd) { return evd->agent_calls > 0; };
    const auto evd = std::ranges::find_if(evds_, due);
    if (evd == evds_.end() || agent.proxy_agent_func == nullptr)
        return nullptr;
    --(*evd)->agent_calls;
    return *evd;
}

void Cno::agent_returned() noexcept {
    if (std::exchange(agent_runs_, false))
        ia().agent_returned.wake();
}

bool Cno::agent_busy() const noexcept {
    return agent_runs_ && inside_agent_of != handle();
}

void Cno::await_agent(Guard &guard) noexcept {
    Futex &returned = ia().agent_returned;
    const auto ticket = returned.ticket();
    const Outside outside(ia(), guard);
    returned.sleep(ticket, {});
}

} // namespace rsmdat
