// SPDX-License-Identifier: MIT
#include "engine/event/evd.h"

#include "engine/core/joined.h"
#include "engine/event/cno.h"
#include "engine/event/timeout.h"

#include <algorithm>

namespace rsmengine {

Evd::Evd(Ia &ia, Count length, StreamSet its_streams, Cno *to)
    : Object(KIND, ia), streams(its_streams), queue_(length) {
    set_cno(to);
}

Evd::~Evd() {
    if (cno)
        cno->detach(*this);
    while (Handle request = queue_.take_request())
        if (Object *object = find_joined(request, ia()))
            object->ia().destroy(*object);
    queue_.clear();
}

// An Evd that has lost an event stays dead: later events would hide the loss.
bool Evd::overflow(int *credit) noexcept {
    if (credit)
        --*credit;
    if (dead_)
        return false;
    dead_ = true;
    wake_waiter();
    if (this != ia().async_evd)
        ia().report(EventKind::EVD_OVERFLOW, handle(), Reason::FAILURE);
    return false;
}

void Evd::alert(bool notifies) noexcept {
    if (waited) {
        notified_ |= notifies;
        untold_ |= notifies;
        if (satisfied())
            wake_waiter();
    } else if (notifies) {
        trigger();
    }
}

void Evd::trigger() noexcept {
    if (cno && enabled_)
        cno->trigger(*this);
}

void Evd::wake_waiter() noexcept {
    if (asleep_)
        futex_.wake();
    asleep_ = false;
}

Status Evd::post_software(void *pointer) noexcept {
    if (!has_room())
        return Status::QUEUE_FULL;
    Arrival arrival;
    arrival.event.kind = EventKind::SOFTWARE;
    arrival.event.software = pointer;
    deliver(arrival);
    return Status::OK;
}

// Keeps room for the waiter's threshold, so that the waiter can still be satisfied.
Status Evd::resize(Count length) {
    if (length < queue_.count())
        return Status::WRONG_STATE;
    queue_.resize(waited ? std::max(length, threshold_) : length);
    return Status::OK;
}

void Evd::set_cno(Cno *other) {
    if (other == cno)
        return;
    if (other)
        other->attach(*this);
    if (cno)
        cno->detach(*this);
    cno = other;
    if (cno && has_feeders())
        ia().arm_all();
    if (triggers_or_will())
        trigger();
}

void Evd::enable(bool on) noexcept {
    const bool before = std::exchange(enabled_, on);
    if (!before && triggers_or_will())
        trigger();
}

void Evd::set_waitable(bool on) noexcept {
    waitable_ = on;
    if (!on)
        wake_waiter();
}

void Evd::abort_waiter() noexcept {
    aborted_ = true;
    wake_waiter();
}

struct Evd::Wait {
    Guard &guard;
    Deadline deadline;
    Spin spin;
};

Status Evd::wait(Guard &guard, Timeout timeout, Count threshold, const Event *&event,
                 Count &more) noexcept {
    const Status refusal = may_wait(threshold);
    if (refusal != Status::OK)
        return refusal;
    waited = true;
    untold_ = false;
    threshold_ = threshold;
    Wait wait{guard, deadline_of(timeout), {!is_over(timeout) && has_feeders(), spin_policy_}};
    if (queue_.count() < threshold)
        poll(is_over(timeout) || wait.spin.worthwhile());
    notified_ = queue_.count() >= threshold; // events that are there count without a notification
    const Status result = await(wait);
    waited = false;
    if (result == Status::OK)
        event = &queue_.pop();
    more = queue_.count();
    if (untold_ && result != Status::ABORTED && triggers())
        trigger();
    return result;
}

Status Evd::may_wait(Count threshold) const noexcept {
    if (threshold <= 0 || threshold > queue_.length())
        return Status::BAD_THRESHOLD;
    if (threshold > 1 && notify_streams > 0)
        return Status::EVD_NOTIFIES_EACH;
    if (threshold > 1 && solicited_streams > 0)
        return Status::EVD_NOTIFIES_SOLICITED;
    if (dead_ && queue_.count() < threshold)
        return Status::WRONG_STATE;
    if (!waitable_)
        return Status::EVD_UNWAITABLE;
    return waited ? Status::EVD_HAS_WAITER : Status::OK;
}

// True if the waiter's condition is met. From a dead queue a waiter takes any event.
bool Evd::satisfied() const noexcept {
    return queue_.count() >= threshold_ && (notified_ || dead_);
}

// The status of a waiter that returns without an event.
Status Evd::disturbance() const noexcept {
    if (aborted_)
        return Status::ABORTED;
    if (!waitable_)
        return Status::EVD_UNWAITABLE;
    return dead_ && !satisfied() ? Status::WRONG_STATE : Status::OK;
}

Status Evd::await(Wait &wait) noexcept {
    bool interrupted = false;
    for (;;) {
        const Status why = disturbance();
        if (why != Status::OK || satisfied())
            return why;
        if (interrupted)
            return Status::INTERRUPTED;
        if (passed(wait.deadline))
            return last_look();
        if (wait.spin.turn(ia(), wait.guard))
            poll();
        else
            interrupted = sleep(wait) == Futex::Wake::INTERRUPTED;
    }
}

// The time is over. Events that have arrived since the last poll without a notification still
// count.
Status Evd::last_look() noexcept {
    poll(false);
    const Status why = disturbance();
    return why != Status::OK || satisfied() ? why : Status::TIMED_OUT;
}

// Peers ring once the engines have armed the connections; poll once more for events that came
// before that.
Futex::Wake Evd::sleep(Wait &wait) noexcept {
    ia().arm_all();
    poll(false);
    if (satisfied() || disturbance() != Status::OK)
        return Futex::Wake::WOKEN;
    asleep_ = true;
    const auto ticket = futex_.ticket();
    auto wake = Futex::Wake::WOKEN;
    {
        const UnlockedScope unlocked(ia(), wait.guard);
        wake = futex_.sleep(ticket, wait.deadline);
    }
    asleep_ = false;
    return wake;
}

} // namespace rsmengine
