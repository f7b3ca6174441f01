// SPDX-License-Identifier: MIT
#include "engine/event/evd.h"
#include "engine/event/timeout.h"

namespace rsmdat {

struct Evd::Wait {
    Guard &guard;
    Deadline deadline;
    Spin spin;
};

DAT_RETURN Evd::wait(Guard &guard, DAT_TIMEOUT timeout, DAT_COUNT threshold, DAT_EVENT &event,
                     DAT_COUNT &more) noexcept {
    const DAT_RETURN refusal = may_wait(threshold);
    if (refusal != DAT_SUCCESS)
        return refusal;
    waited = true;
    threshold_ = threshold;
    Wait wait{guard, deadline_of(timeout), {timeout != 0 && has_feeders(), luck_}};
    if (queue_.count() < threshold)
        poll(timeout == 0 || wait.spin.worthwhile());
    notified_ = queue_.count() >= threshold; // those need not notify
    const DAT_RETURN result = await(wait);
    waited = false;
    if (result == DAT_SUCCESS)
        queue_.pop(event);
    more = queue_.count();
    return result;
}

DAT_RETURN Evd::may_wait(DAT_COUNT threshold) const noexcept {
    if (threshold <= 0 || threshold > queue_.length())
        return invalid_parameter(3);
    if (threshold > 1 && notify_streams > 0)
        return invalid_state(DAT_INVALID_STATE_EVD_CONFIG_NOTIFY);
    if (threshold > 1 && solicited_streams > 0)
        return invalid_state(DAT_INVALID_STATE_EVD_CONFIG_SOLICITED);
    if (dead_ && queue_.count() < threshold)
        return invalid_state();
    if (!waitable_)
        return invalid_state(DAT_INVALID_STATE_EVD_UNWAITABLE);
    return waited ? invalid_state(DAT_INVALID_STATE_EVD_WAITER) : DAT_RETURN{DAT_SUCCESS};
}

// Has the waiter got what it came for? Of a dead queue it takes what there is.
bool Evd::satisfied() const noexcept {
    return queue_.count() >= threshold_ && (notified_ || dead_);
}

// Why it has to leave without.
DAT_RETURN Evd::disturbance() const noexcept {
    if (aborted_)
        return failure(DAT_ABORT);
    if (!waitable_)
        return invalid_state(DAT_INVALID_STATE_EVD_UNWAITABLE);
    return dead_ && !satisfied() ? invalid_state() : DAT_RETURN{DAT_SUCCESS};
}

DAT_RETURN Evd::await(Wait &wait) noexcept {
    bool interrupted = false;
    for (;;) {
        const DAT_RETURN why = disturbance();
        if (why != DAT_SUCCESS || satisfied())
            return why;
        if (interrupted)
            return failure(DAT_INTERRUPTED_CALL);
        if (passed(wait.deadline))
            return last_look();
        if (wait.spin.turn(ia(), wait.guard))
            poll();
        else
            interrupted = doze(wait) == Futex::Wake::INTERRUPTED;
    }
}

// Time is over. Events that have come since the last look, and nobody has told us of, still count.
DAT_RETURN Evd::last_look() noexcept {
    poll(false);
    const DAT_RETURN why = disturbance();
    return why != DAT_SUCCESS || satisfied() ? why : failure(DAT_TIMEOUT_EXPIRED);
}

// Peers ring from the moment when the engines have armed the connections; what came before that is
// seen by looking once more.
Futex::Wake Evd::doze(Wait &wait) noexcept {
    ia().arm_all();
    poll(false);
    if (satisfied() || disturbance() != DAT_SUCCESS)
        return Futex::Wake::WOKEN;
    asleep_ = true;
    const auto ticket = futex_.ticket();
    auto wake = Futex::Wake::WOKEN;
    {
        const Outside outside(ia(), wait.guard);
        wake = futex_.sleep(ticket, wait.deadline);
    }
    asleep_ = false;
    return wake;
}

} // namespace rsmdat
