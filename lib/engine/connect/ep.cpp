// SPDX-License-Identifier: MIT
#include "engine/connect/ep.h"

#include "device/uncancelled.h"
#include "engine/connect/service.h"
#include "engine/transfer/srq.h"

#include <array>
#include <chrono>

namespace rsmdat {
namespace {

// An EP's stream comes to an EVD (by = 1) or leaves it (-1).
void count_stream(Evd *evd, DAT_COMPLETION_FLAGS flags, int by) noexcept {
    if (evd == nullptr)
        return;
    evd->users += by;
    if (flags == DAT_COMPLETION_UNSIGNALLED_FLAG)
        evd->notify_streams += by;
    if (flags == DAT_COMPLETION_SOLICITED_WAIT_FLAG)
        evd->solicited_streams += by;
}

// Events that are queued on the EVD that the stream leaves lose their owner.
void move_stream(const Ep &ep, Evd *&role, Evd *evd, DAT_COMPLETION_FLAGS flags) noexcept {
    if (role == evd)
        return;
    if (role != nullptr)
        role->disown(ep.handle());
    count_stream(role, flags, -1);
    role = evd;
    count_stream(role, flags, 1);
}

} // namespace

Ep::Ep(Ia &ia, const DAT_EP_ATTR &its_attributes, Srq *its_srq)
    : Object(KIND, ia), attributes(its_attributes), srq(its_srq),
      transfer(ia.transport->make_transfer(*this)), connector(ia.transport->make_connector(*this)) {
    if (srq != nullptr)
        ++srq->eps;
}

// Detach from the EVDs first, so that no later event carries this handle.
Ep::~Ep() {
    for (Evd *evd : {recv_evd, request_evd, connect_evd})
        if (evd != nullptr)
            evd->purge(handle());
    unfeed();
    set_recv_evd(nullptr);
    set_request_evd(nullptr);
    set_connect_evd(nullptr);
    if (transferring())
        end(DAT_CONNECTION_EVENT_DISCONNECTED, Ending::CLOSED);
    else if (link)
        fail(DAT_CONNECTION_EVENT_DISCONNECTED);
    set_pz(nullptr);
    if (srq != nullptr)
        --srq->eps;
    if (request != nullptr)
        request->ep = nullptr;
    if (rsp != nullptr)
        rsp->ep = nullptr;
}

void Ep::set_pz(Pz *other) noexcept {
    if (pz != nullptr)
        --pz->users;
    pz = other;
    if (pz != nullptr)
        ++pz->users;
}

void Ep::set_recv_evd(Evd *evd) noexcept {
    move_stream(*this, recv_evd, evd, attributes.recv_completion_flags);
}

void Ep::set_request_evd(Evd *evd) noexcept {
    move_stream(*this, request_evd, evd, attributes.request_completion_flags);
}

void Ep::set_connect_evd(Evd *evd) noexcept {
    move_stream(*this, connect_evd, evd, DAT_COMPLETION_DEFAULT_FLAG);
}

void Ep::leave_evds_of(const Ia &closing) noexcept {
    const auto goes = [&closing](const Evd *evd) {
        return evd != nullptr && &evd->ia() == &closing;
    };
    if (!goes(recv_evd) && !goes(request_evd) && !goes(connect_evd))
        return;
    give_up();
    if (goes(recv_evd))
        set_recv_evd(nullptr);
    if (goes(request_evd))
        set_request_evd(nullptr);
    if (goes(connect_evd))
        set_connect_evd(nullptr);
}

void Ep::set_attributes(const DAT_EP_ATTR &changed) {
    const DAT_EP_ATTR before = attributes;
    attributes = changed;
    try {
        transfer->resized();
    } catch (...) {
        attributes = before;
        throw;
    }
    count_stream(recv_evd, before.recv_completion_flags, -1);
    count_stream(recv_evd, changed.recv_completion_flags, 1);
    count_stream(request_evd, before.request_completion_flags, -1);
    count_stream(request_evd, changed.request_completion_flags, 1);
}

void Ep::feed() {
    feeding_ = true;
    for (Evd *evd : {recv_evd, request_evd, connect_evd})
        if (evd != nullptr)
            evd->add_feeder(*connector);
}

void Ep::unfeed() noexcept {
    if (!feeding_)
        return;
    for (Evd *evd : {recv_evd, request_evd, connect_evd})
        if (evd != nullptr)
            evd->remove_feeder(*connector);
    feeding_ = false;
}

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
        if (flags == DAT_CLOSE_ABRUPT_FLAG || transfer->request_idle())
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

// Ends the connection, or the attempt to make one, in whatever state it is.
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

// Complete all outstanding work before the event that tells why the connection ended.
void Ep::end(DAT_EVENT_NUMBER event, Ending ending) noexcept {
    const rsmdev::Uncancelled uncancelled;
    state = DAT_EP_STATE_DISCONNECTED;
    transfer->disconnected();
    connector->hang_up(ending);
    report(event);
}

void Ep::fail(DAT_EVENT_NUMBER event) noexcept {
    const rsmdev::Uncancelled uncancelled;
    state = DAT_EP_STATE_DISCONNECTED;
    if (link)
        connector->give_up();
    transfer->flush();
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
    transfer->reset();
    if (connect_evd != nullptr)
        connect_evd->drop_private_data(handle());
    established_data.clear();
    lost_event = false;
    state = DAT_EP_STATE_UNCONNECTED;
    return DAT_SUCCESS;
}

// The event may stay queued after the Ep is reset or freed, so it refers to nothing of the Ep.
void Ep::report(DAT_EVENT_NUMBER event) noexcept {
    Arrival arrival;
    arrival.event.event_number = event;
    arrival.event.event_data.connect_event_data.ep_handle = handle();
    if (connect_evd != nullptr)
        connect_evd->deliver(arrival);
}

} // namespace rsmdat
