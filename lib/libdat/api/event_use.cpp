// SPDX-License-Identifier: MIT
// Event dispatchers at work.
#include "libdat/api/functions.h"

#include "engine/event/evd.h"
#include "libdat/api/types.h"

namespace rsmdat {

namespace {

DAT_RETURN enable(DAT_EVD_HANDLE evd, bool on) noexcept {
    const auto locked = enter<Evd>(evd);
    if (!locked)
        return invalid_handle(DAT_INVALID_HANDLE1);
    locked->enable(on);
    return DAT_SUCCESS;
}

DAT_RETURN set_waitable(DAT_EVD_HANDLE evd, bool on) noexcept {
    const auto locked = enter<Evd>(evd);
    if (!locked)
        return invalid_handle(DAT_INVALID_HANDLE1);
    locked->set_waitable(on);
    return DAT_SUCCESS;
}

} // namespace

DAT_RETURN evd_enable(DAT_EVD_HANDLE evd) noexcept {
    return enable(evd, true);
}

DAT_RETURN evd_disable(DAT_EVD_HANDLE evd) noexcept {
    return enable(evd, false);
}

DAT_RETURN evd_set_unwaitable(DAT_EVD_HANDLE evd) noexcept {
    return set_waitable(evd, false);
}

DAT_RETURN evd_clear_unwaitable(DAT_EVD_HANDLE evd) noexcept {
    return set_waitable(evd, true);
}

DAT_RETURN evd_wait(DAT_EVD_HANDLE evd, DAT_TIMEOUT timeout, DAT_COUNT threshold, DAT_EVENT *event,
                    DAT_COUNT *nmore) noexcept {
    auto locked = enter<Evd>(evd);
    if (!locked)
        return invalid_handle(DAT_INVALID_HANDLE1);
    if (!event)
        return invalid_parameter(4);
    if (!nmore)
        return invalid_parameter(5);
    const Event *found = nullptr;
    const Status status = locked->wait(locked.guard, to_timeout(timeout), threshold, found, *nmore);
    if (found != nullptr)
        give(*event, *found);
    return to_return(status);
}

DAT_RETURN evd_post_se(DAT_EVD_HANDLE evd, const DAT_EVENT *event) noexcept {
    const auto locked = enter<Evd>(evd);
    if (!locked)
        return invalid_handle(DAT_INVALID_HANDLE1);
    if (!locked->accepts(Stream::SOFTWARE))
        return invalid_parameter(1);
    if (!event || event->event_number != DAT_SOFTWARE_EVENT)
        return invalid_parameter(2);
    return to_return(locked->post_software(event->event_data.software_event_data.pointer));
}

DAT_RETURN evd_dequeue(DAT_EVD_HANDLE evd, DAT_EVENT *event) noexcept {
    const auto locked = enter<Evd>(evd);
    if (!locked)
        return invalid_handle(DAT_INVALID_HANDLE1);
    if (!event)
        return invalid_parameter(2);
    const Event *found = nullptr;
    const Status status = locked->dequeue(found);
    if (status == Status::OK)
        give(*event, *found);
    return to_return(status);
}

} // namespace rsmdat
