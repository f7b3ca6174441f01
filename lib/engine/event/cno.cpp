// SPDX-License-Identifier: MIT
#include "engine/event/cno.h"

#include "engine/event/evd.h"
#include "engine/event/timeout.h"
#include "engine/loop/engine.h"

#include <algorithm>

namespace rsmengine {

struct Cno::Wait {
    Guard &guard;
    Deadline deadline;
    Spin spin;
    unsigned releases; // the value of releases_ when the wait began
};

Cno::Cno(Ia &ia, Agent wait_agent) : Object(KIND, ia), agent(wait_agent) {}

Cno::~Cno() {
    for (Evd *evd : evds_)
        evd->cno = nullptr;
    agent_returned();
}

void Cno::attach(Evd &evd) {
    evds_.push_back(&evd);
}

void Cno::detach(Evd &evd) noexcept {
    std::erase(evds_, &evd);
    evd.agent_calls = 0;
    if (last_ == &evd)
        last_ = nullptr;
    if (evds_.empty())
        release();
}

void Cno::release() noexcept {
    ++releases_;
    if (waiters_ > 0)
        futex_.wake();
}

void Cno::trigger(Evd &evd) noexcept {
    last_ = &evd;
    triggers_ = std::min(triggers_ + 1, std::max(waiters_, 1U));
    if (waiters_ > 0)
        futex_.wake();
    if (agent.call)
        call_agent(evd);
}

// Next attached EVD that has events to report; scans round-robin.
Evd *Cno::scan() noexcept {
    for (std::size_t i = 0; i < evds_.size(); ++i) {
        Evd *evd = evds_[scanned_++ % evds_.size()];
        if (evd->triggers_or_will())
            return evd;
    }
    return nullptr;
}

// Takes a trigger that has not been reported yet.
bool Cno::take(Handle &evd) noexcept {
    if (triggers_ == 0)
        return false;
    --triggers_;
    evd = last_ ? last_->handle() : nullptr;
    return true;
}

bool Cno::has_feeders() const noexcept {
    return std::ranges::any_of(evds_, [](const Evd *evd) { return evd->has_feeders(); });
}

void Cno::poll(bool again) noexcept {
    for (Evd *evd : evds_)
        evd->poll(again);
}

Status Cno::wait(Guard &guard, Timeout timeout, Handle &evd) noexcept {
    evd = nullptr;
    Wait wait{
        guard, deadline_of(timeout), {!is_over(timeout) && has_feeders(), spin_policy_}, releases_};
    if (triggers_ == 0)
        poll(is_over(timeout) || wait.spin.worthwhile());
    if (take(evd))
        return Status::OK;
    if (Evd *ready = scan()) {
        evd = ready->handle();
        return Status::OK;
    }
    ++waiters_;
    const Status result = await(wait, evd);
    --waiters_;
    return result;
}

Status Cno::await(Wait &wait, Handle &evd) noexcept {
    bool interrupted = false;
    for (;;) {
        if (take(evd) || wait.releases != releases_)
            return Status::OK;
        if (interrupted)
            return Status::INTERRUPTED;
        if (passed(wait.deadline))
            return last_look(evd);
        if (wait.spin.turn(ia(), wait.guard))
            poll(true);
        else
            interrupted = sleep(wait) == Futex::Wake::INTERRUPTED;
    }
}

// As in Evd::sleep.
Status Cno::last_look(Handle &evd) noexcept {
    poll(false);
    return take(evd) ? Status::OK : Status::QUEUE_EMPTY;
}

Futex::Wake Cno::sleep(Wait &wait) noexcept {
    const auto ticket = futex_.ticket();
    ia().arm_all();
    if (triggers_ > 0)
        return Futex::Wake::WOKEN;
    const UnlockedScope unlocked(ia(), wait.guard);
    return futex_.sleep(ticket, wait.deadline);
}

namespace {

// The CNO whose agent this thread is running.
thread_local Handle inside_agent_of = nullptr;

} // namespace

// If memory for the engine's list is short, the next trigger reports this one, too.
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

// An agent may free its Cno and close the Ia: keep no reference to either while it runs.
void Cno::run_agent(Handle handle) noexcept {
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
        agent.call(agent.data, about);
        inside_agent_of = nullptr;
    }
}

// Takes an EVD for which the agent is due once.
Evd *Cno::next_call() noexcept {
    const auto due = [](const Evd *evd) { return evd->agent_calls > 0; };
    const auto evd = std::ranges::find_if(evds_, due);
    if (evd == evds_.end() || agent.call == nullptr)
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
    const UnlockedScope unlocked(ia(), guard);
    returned.sleep(ticket, {});
}

} // namespace rsmengine
