// SPDX-License-Identifier: MIT
#include "engine/connect/ep.h"

#include "engine/connect/service.h"
#include "transfer/srq.h"

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

// Events that wait on the EVD which is left are nobody's then.
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
    : Object(KIND, ia), attributes(its_attributes), srq(its_srq), transfer(*this),
      connector(*this) {
    if (srq != nullptr)
        ++srq->eps;
}

// Nothing is to arrive any more that carries the handle, so the EVDs go first.
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
        transfer.resized();
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
            evd->add_feeder(connector);
}

void Ep::unfeed() noexcept {
    if (!feeding_)
        return;
    for (Evd *evd : {recv_evd, request_evd, connect_evd})
        if (evd != nullptr)
            evd->remove_feeder(connector);
    feeding_ = false;
}

} // namespace rsmdat
