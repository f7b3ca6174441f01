// SPDX-License-Identifier: MIT
#include "engine/event/cno.h"

#include "engine/event/evd.h"
#include "engine/event/timeout.h"

#include <algorithm>

namespace rsmdat {

struct Cno::Wait {
    Guard &guard;
    Deadline deadline;
    Spin spin;
    unsigned releases; // when it began
};

Cno::Cno(Ia &ia, DAT_OS_WAIT_PROXY_AGENT wait_agent) : Object(KIND, ia), agent(wait_agent) {}

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
    if (agent.proxy_agent_func)
        call_agent(evd);
}

// One of the attached that has something to tell: each gets its turn.
Evd *Cno::scan() noexcept {
    for (std::size_t i = 0; i < evds_.size(); ++i) {
        Evd *evd = evds_[scanned_++ % evds_.size()];
        if (evd->triggers())
            return evd;
    }
    return nullptr;
}

// A trigger that nobody has been told of.
bool Cno::take(DAT_EVD_HANDLE &evd) noexcept {
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

DAT_RETURN Cno::wait(Guard &guard, DAT_TIMEOUT timeout, DAT_EVD_HANDLE &evd) noexcept {
    evd = nullptr;
    Wait wait{guard, deadline_of(timeout), {timeout != 0 && has_feeders(), luck_}, releases_};
    if (triggers_ == 0)
        poll(timeout == 0 || wait.spin.worthwhile());
    if (take(evd))
        return DAT_SUCCESS;
    if (Evd *ready = scan()) {
        evd = ready->handle();
        return DAT_SUCCESS;
    }
    ++waiters_;
    const DAT_RETURN result = await(wait, evd);
    --waiters_;
    return result;
}

DAT_RETURN Cno::await(Wait &wait, DAT_EVD_HANDLE &evd) noexcept {
    bool interrupted = false;
    for (;;) {
        if (take(evd) || wait.releases != releases_)
            return DAT_SUCCESS;
        if (interrupted)
            return failure(DAT_INTERRUPTED_CALL);
        if (passed(wait.deadline))
            return last_look(evd);
        if (wait.spin.turn(ia(), wait.guard))
            poll(true);
        else
            interrupted = doze(wait) == Futex::Wake::INTERRUPTED;
    }
}

// As Evd's.
DAT_RETURN Cno::last_look(DAT_EVD_HANDLE &evd) noexcept {
    poll(false);
    return take(evd) ? DAT_RETURN{DAT_SUCCESS} : failure(DAT_QUEUE_EMPTY);
}

Futex::Wake Cno::doze(Wait &wait) noexcept {
    const auto ticket = futex_.ticket();
    ia().arm_all();
    if (triggers_ > 0)
        return Futex::Wake::WOKEN;
    const Outside outside(ia(), wait.guard);
    return futex_.sleep(ticket, wait.deadline);
}

} // namespace rsmdat
