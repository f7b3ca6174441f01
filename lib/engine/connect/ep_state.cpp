// SPDX-License-Identifier: MIT
// The state machine of endpoints.
#include "engine/connect/ep.h"

#include "device/uncancelled.h"
#include "engine/connect/service.h"

#include <chrono>

namespace rsmdat {

DAT_RETURN_SUBTYPE Ep::state_subtype() const noexcept {
    switch (state) {
    case DAT_EP_STATE_UNCONNECTED:
        return DAT_INVALID_STATE_EP_UNCONNECTED;
    case DAT_EP_STATE_RESERVED:
        return DAT_INVALID_STATE_EP_RESERVED;
    case DAT_EP_STATE_PASSIVE_CONNECTION_PENDING:
        return DAT_INVALID_STATE_EP_PASSCONNPENDING;
    case DAT_EP_STATE_ACTIVE_CONNECTION_PENDING:
        return DAT_INVALID_STATE_EP_ACTCONNPENDING;
    case DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING:
        return DAT_INVALID_STATE_EP_TENTCONNPENDING;
    case DAT_EP_STATE_CONNECTED:
        return DAT_INVALID_STATE_EP_CONNECTED;
    case DAT_EP_STATE_DISCONNECT_PENDING:
        return DAT_INVALID_STATE_EP_DISCPENDING;
    case DAT_EP_STATE_DISCONNECTED:
        return DAT_INVALID_STATE_EP_DISCONNECTED;
    case DAT_EP_STATE_COMPLETION_PENDING:
        return DAT_INVALID_STATE_EP_COMPLPENDING;
    default:
        return DAT_NO_SUBTYPE;
    }
}

const Link *Ep::known_link() const noexcept {
    if (link)
        return link.get();
    return request != nullptr ? request->link.get() : nullptr;
}

DAT_RETURN Ep::disconnect(DAT_CLOSE_FLAGS flags) noexcept {
    switch (state) {
    case DAT_EP_STATE_DISCONNECTED:
        return DAT_SUCCESS;
    case DAT_EP_STATE_ACTIVE_CONNECTION_PENDING:
    case DAT_EP_STATE_COMPLETION_PENDING:
        fail(DAT_CONNECTION_EVENT_DISCONNECTED);
        return DAT_SUCCESS;
    case DAT_EP_STATE_CONNECTED:
    case DAT_EP_STATE_DISCONNECT_PENDING:
        state = DAT_EP_STATE_DISCONNECT_PENDING;
        if (flags == DAT_CLOSE_ABRUPT_FLAG || transfer.request_idle())
            end(DAT_CONNECTION_EVENT_DISCONNECTED, Ending::CLOSED);
        else
            ia().engine->arm_all();
        return DAT_SUCCESS;
    default:
        return wrong_state();
    }
}

void Ep::broken() noexcept {
    if (transferring())
        end(DAT_CONNECTION_EVENT_BROKEN, Ending::BROKEN);
}

// Whatever there is of a connection ends.
void Ep::give_up() noexcept {
    if (state == DAT_EP_STATE_ACTIVE_CONNECTION_PENDING)
        fail(DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
    else if (state == DAT_EP_STATE_COMPLETION_PENDING)
        fail(DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR);
    else
        broken();
}

void Ep::drained() noexcept {
    if (state == DAT_EP_STATE_DISCONNECT_PENDING)
        end(DAT_CONNECTION_EVENT_DISCONNECTED, Ending::CLOSED);
}

// Everything that was outstanding completes before the event that says why.
void Ep::end(DAT_EVENT_NUMBER event, Ending ending) noexcept {
    const rsmdev::Uncancelled uncancelled;
    state = DAT_EP_STATE_DISCONNECTED;
    transfer.disconnected();
    connector.hang_up(ending);
    report(event);
}

void Ep::fail(DAT_EVENT_NUMBER event) noexcept {
    const rsmdev::Uncancelled uncancelled;
    state = DAT_EP_STATE_DISCONNECTED;
    if (link)
        connector.give_up();
    transfer.flush();
    report(event);
}

void Ep::limit(DAT_TIMEOUT timeout, DAT_EVENT_NUMBER late) {
    late_ = late;
    if (timeout != DAT_TIMEOUT_INFINITE)
        limit_ = ia().engine->at(Engine::Clock::now() + std::chrono::microseconds(timeout),
                                 [this] { fail(late_); });
}

void Ep::unlimit() noexcept {
    ia().engine->cancel(std::exchange(limit_, 0));
}

void Ep::prepare() {
    established_data.reserve(static_cast<std::size_t>(ia().limits.private_data));
}

void Ep::establish(std::span<const std::byte> private_data) noexcept {
    unlimit();
    state = DAT_EP_STATE_CONNECTED;
    established_data.assign(private_data.begin(), private_data.end());
    Arrival arrival;
    arrival.owner = handle();
    arrival.event.event_number = DAT_CONNECTION_EVENT_ESTABLISHED;
    auto &event = arrival.event.event_data.connect_event_data;
    event.ep_handle = handle();
    event.private_data_size = static_cast<DAT_COUNT>(established_data.size());
    event.private_data = established_data.empty() ? nullptr : established_data.data();
    if (connect_evd != nullptr && !connect_evd->deliver(arrival))
        lost_event = true;
}

DAT_RETURN Ep::reset() noexcept {
    if (state == DAT_EP_STATE_UNCONNECTED)
        return DAT_SUCCESS;
    if (state != DAT_EP_STATE_DISCONNECTED)
        return wrong_state();
    transfer.reset();
    if (connect_evd != nullptr)
        connect_evd->drop_private_data(handle());
    established_data.clear();
    lost_event = false;
    state = DAT_EP_STATE_UNCONNECTED;
    return DAT_SUCCESS;
}

// Such an event may stay queued when the Ep is reset or freed: nothing in it is the Ep's.
void Ep::report(DAT_EVENT_NUMBER event) noexcept {
    Arrival arrival;
    arrival.event.event_number = event;
    arrival.event.event_data.connect_event_data.ep_handle = handle();
    if (connect_evd != nullptr)
        connect_evd->deliver(arrival);
}

} // namespace rsmdat
