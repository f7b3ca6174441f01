// SPDX-License-Identifier: MIT
#include "engine/event/evd.h"

#include "engine/core/joined.h"
#include "engine/event/cno.h"
#include "engine/event/timeout.h"

#include <algorithm>

namespace rsmdat {

Evd::Evd(Ia &ia, DAT_COUNT length, DAT_EVD_FLAGS streams, Cno *to)
    : Object(KIND, ia), flags(streams), queue_(length) {
    set_cno(to);
}

Evd::~Evd() {
    if (cno)
        cno->detach(*this);
    while (DAT_CR_HANDLE request = queue_.take_request())
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
        ia().report(DAT_ASYNC_ERROR_EVD_OVERFLOW, handle(), DAT_EVD_OVERFLOW_ERROR);
    return false;
}

void Evd::alert(bool notifies) noexcept {
    if (waited) {
        notified_ |= notifies;
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

DAT_RETURN Evd::post_software(void *pointer) noexcept {
    if (!has_room())
        return failure(DAT_QUEUE_FULL);
    Arrival arrival;
    arrival.event.event_number = DAT_SOFTWARE_EVENT;
    arrival.event.event_data.software_event_data.pointer = pointer;
    deliver(arrival);
    return DAT_SUCCESS;
}

// Keeps room for the waiter's threshold, so that the waiter can still be satisfied.
DAT_RETURN Evd::resize(DAT_COUNT length) {
    if (length < queue_.count())
        return invalid_state();
    queue_.resize(waited ? std::max(length, threshold_) : length);
    return DAT_SUCCESS;
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
    if (triggers())
        trigger();
}

void Evd::enable(bool on) noexcept {
    const bool before = std::exchange(enabled_, on);
    if (!before && triggers())
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

DAT_EVD_STATE Evd::state() const noexcept {
    int state = enabled_ ? DAT_EVD_STATE_ENABLED : DAT_EVD_STATE_DISABLED;
    state |= waitable_ ? DAT_EVD_STATE_WAITABLE : DAT_EVD_STATE_UNWAITABLE;
    if (notify_streams > 0)
        state |= DAT_EVD_STATE_CONFIG_NOTIFY;
    else if (solicited_streams > 0)
        state |= DAT_EVD_STATE_CONFIG_SOLICITED;
    else
        state |= DAT_EVD_STATE_CONFIG_THRESHOLD;
    return static_cast<DAT_EVD_STATE>(state);
}

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
    Wait wait{guard, deadline_of(timeout), {timeout != 0 && has_feeders(), spin_policy_}};
    if (queue_.count() < threshold)
        poll(timeout == 0 || wait.spin.worthwhile());
    notified_ = queue_.count() >= threshold; // events that are there count without a notification
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

// True if the waiter's condition is met. From a dead queue a waiter takes any event.
bool Evd::satisfied() const noexcept {
    return queue_.count() >= threshold_ && (notified_ || dead_);
}

// The status of a waiter that returns without an event.
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
            interrupted = sleep(wait) == Futex::Wake::INTERRUPTED;
    }
}

// The time is over. Events that have arrived since the last poll without a notification still
// count.
DAT_RETURN Evd::last_look() noexcept {
    poll(false);
    const DAT_RETURN why = disturbance();
    return why != DAT_SUCCESS || satisfied() ? why : failure(DAT_TIMEOUT_EXPIRED);
}

// Peers ring once the engines have armed the connections; poll once more for events that came
// before that.
Futex::Wake Evd::sleep(Wait &wait) noexcept {
    ia().arm_all();
    poll(false);
    if (satisfied() || disturbance() != DAT_SUCCESS)
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

} // namespace rsmdat
