// SPDX-License-Identifier: MIT
#include "engine/connect/ep.h"

#include "device/uncancelled.h"
#include "engine/connect/service.h"
#include "engine/transfer/srq.h"

#include <array>
#include <chrono>

namespace rsmengine {
namespace {

// An EP's stream comes to an EVD (by = 1) or leaves it (-1).
void count_stream(Evd *evd, CompletionFlags flags, int by) noexcept {
    if (evd == nullptr)
        return;
    evd->users += by;
    if (flags == CompletionFlags::UNSIGNALLED)
        evd->notify_streams += by;
    if (flags == CompletionFlags::SOLICITED)
        evd->solicited_streams += by;
}

// Events that are queued on the EVD that the stream leaves lose their owner.
void move_stream(const Ep &ep, Evd *&role, Evd *evd, CompletionFlags flags) noexcept {
    if (role == evd)
        return;
    if (role != nullptr)
        role->disown(ep.handle());
    count_stream(role, flags, -1);
    role = evd;
    count_stream(role, flags, 1);
}

} // namespace

Ep::Ep(Ia &ia, const EpAttributes &its_attributes, Srq *its_srq)
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
        end(EventKind::DISCONNECTED, Ending::CLOSED);
    else if (link)
        fail(EventKind::DISCONNECTED);
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
    move_stream(*this, connect_evd, evd, CompletionFlags::DEFAULT);
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

void Ep::set_attributes(const EpAttributes &changed) {
    const EpAttributes before = attributes;
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

Status Ep::wrong_state() const noexcept {
    switch (state) {
    case EpState::UNCONNECTED:
        return Status::EP_UNCONNECTED;
    case EpState::RESERVED:
        return Status::EP_RESERVED;
    case EpState::PASSIVE_PENDING:
        return Status::EP_PASSIVE_PENDING;
    case EpState::ACTIVE_PENDING:
        return Status::EP_ACTIVE_PENDING;
    case EpState::TENTATIVE_PENDING:
        return Status::EP_TENTATIVE_PENDING;
    case EpState::CONNECTED:
        return Status::EP_CONNECTED;
    case EpState::DISCONNECT_PENDING:
        return Status::EP_DISCONNECT_PENDING;
    case EpState::DISCONNECTED:
        return Status::EP_DISCONNECTED;
    case EpState::COMPLETION_PENDING:
        return Status::EP_COMPLETION_PENDING;
    }
    return Status::WRONG_STATE;
}

const Link *Ep::known_link() const noexcept {
    if (link)
        return link.get();
    return request != nullptr ? request->link.get() : nullptr;
}

Status Ep::disconnect(Close how) noexcept {
    switch (state) {
    case EpState::DISCONNECTED:
        return Status::OK;
    case EpState::ACTIVE_PENDING:
    case EpState::COMPLETION_PENDING:
        fail(EventKind::DISCONNECTED);
        return Status::OK;
    case EpState::CONNECTED:
    case EpState::DISCONNECT_PENDING:
        state = EpState::DISCONNECT_PENDING;
        if (how == Close::ABRUPT || transfer->request_idle())
            end(EventKind::DISCONNECTED, Ending::CLOSED);
        else
            ia().engine->arm_all();
        return Status::OK;
    default:
        return wrong_state();
    }
}

void Ep::broken() noexcept {
    if (transferring())
        end(EventKind::BROKEN, Ending::BROKEN);
}

// Ends the connection, or the attempt to make one, in whatever state it is.
void Ep::give_up() noexcept {
    if (state == EpState::ACTIVE_PENDING)
        fail(EventKind::NON_PEER_REJECTED);
    else if (state == EpState::COMPLETION_PENDING)
        fail(EventKind::ACCEPT_FAILED);
    else
        broken();
}

void Ep::drained() noexcept {
    if (state == EpState::DISCONNECT_PENDING)
        end(EventKind::DISCONNECTED, Ending::CLOSED);
}

// Complete all outstanding work before the event that tells why the connection ended.
void Ep::end(EventKind event, Ending ending) noexcept {
    const rsmdev::Uncancelled uncancelled;
    state = EpState::DISCONNECTED;
    transfer->disconnected();
    connector->hang_up(ending);
    report(event);
}

void Ep::fail(EventKind event) noexcept {
    const rsmdev::Uncancelled uncancelled;
    state = EpState::DISCONNECTED;
    if (link)
        connector->give_up();
    transfer->flush();
    report(event);
}

void Ep::limit(Timeout timeout, EventKind late) {
    late_ = late;
    if (timeout)
        limit_ = ia().engine->at(Engine::Clock::now() + *timeout, [this] { fail(late_); });
}

void Ep::unlimit() noexcept {
    ia().engine->cancel(std::exchange(limit_, 0));
}

void Ep::prepare() {
    established_data.reserve(static_cast<std::size_t>(ia().limits.private_data));
}

void Ep::establish(std::span<const std::byte> private_data) noexcept {
    unlimit();
    state = EpState::CONNECTED;
    established_data.assign(private_data.begin(), private_data.end());
    Arrival arrival;
    arrival.owner = handle();
    arrival.event.kind = EventKind::ESTABLISHED;
    auto &event = arrival.event.connection;
    event.ep = handle();
    event.size = static_cast<Count>(established_data.size());
    event.private_data = established_data.empty() ? nullptr : established_data.data();
    if (connect_evd != nullptr && !connect_evd->deliver(arrival))
        lost_event = true;
}

Status Ep::reset() noexcept {
    if (state == EpState::UNCONNECTED)
        return Status::OK;
    if (state != EpState::DISCONNECTED)
        return wrong_state();
    transfer->reset();
    if (connect_evd != nullptr)
        connect_evd->drop_private_data(handle());
    established_data.clear();
    lost_event = false;
    state = EpState::UNCONNECTED;
    return Status::OK;
}

// The event may stay queued after the Ep is reset or freed, so it refers to nothing of the Ep.
void Ep::report(EventKind event) noexcept {
    Arrival arrival;
    arrival.event.kind = event;
    arrival.event.connection.ep = handle();
    if (connect_evd != nullptr)
        connect_evd->deliver(arrival);
}

} // namespace rsmengine
