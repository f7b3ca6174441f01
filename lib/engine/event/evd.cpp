// SPDX-License-Identifier: MIT
#include "engine/event/evd.h"

#include "engine/core/joined.h"
#include "engine/event/cno.h"

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

// A dead Evd stays so: what comes next would hide that something is missing.
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

// A waiter can still get what it waits for.
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

} // namespace rsmdat
