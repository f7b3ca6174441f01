// SPDX-License-Identifier: MIT
#include "engine/connect/service.h"

#include "engine/connect/address.h"
#include "engine/connect/attributes.h"

#include <algorithm>
#include <utility>

namespace rsmdat {
namespace {

// Makes an Ep for a request that comes without one.
Ep &make_endpoint(Ia &ia, const Link &link) {
    DAT_EP_ATTR attributes = default_attributes(ia.limits, true, true);
    const auto in = static_cast<DAT_COUNT>(link.max_rdma_read_in);
    const auto out = static_cast<DAT_COUNT>(link.max_rdma_read_out);
    attributes.max_rdma_read_in = std::max(attributes.max_rdma_read_in, in);
    attributes.max_rdma_read_out = std::min(attributes.max_rdma_read_out, out);
    Ep &ep = ia.adopt(std::make_unique<Ep>(ia, attributes));
    ep.state = DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING;
    return ep;
}

} // namespace

Sp::Sp(DAT_HANDLE_TYPE kind, Ia &ia, DAT_CONN_QUAL its_qualifier, Evd &its_evd,
       std::unique_ptr<ServicePointListener> listener)
    : Object(kind, ia), qualifier(its_qualifier), evd(&its_evd), listener_(std::move(listener)) {
    listener_->serve(*this);
    ++evd->users;
}

Sp::~Sp() {
    leave_evd();
}

void Sp::leave_evd() noexcept {
    (void)stop_listening();
    if (Evd *left = std::exchange(evd, nullptr))
        --left->users;
}

void Sp::leave_evds_of(const Ia &closing) noexcept {
    if (evd != nullptr && &evd->ia() == &closing)
        leave_evd();
}

std::unique_ptr<ServicePointListener> Sp::stop_listening() noexcept {
    if (listener_)
        listener_->stop();
    return std::exchange(listener_, nullptr);
}

void Sp::take(std::unique_ptr<Link> link, std::span<const std::byte> private_data) noexcept {
    if (!listening() || !evd->has_room())
        return ia().transport->refuse(ia(), std::move(link), Refusal::BY_PROVIDER);
    Cr *cr = nullptr;
    try {
        cr = &ia().adopt(std::make_unique<Cr>(ia(), std::move(link), private_data));
        cr->take_ep(endpoint(*cr->link));
    } catch (const std::bad_alloc &) {
        if (cr != nullptr)
            ia().destroy(*cr);
        return;
    }
    ia().transport->acknowledge(*cr->link);
    announce(*cr);
    arrived();
}

void Sp::announce(Cr &cr) noexcept {
    Arrival arrival;
    arrival.event.event_number = DAT_CONNECTION_REQUEST_EVENT;
    auto &event = arrival.event.event_data.cr_arrival_event_data;
    event.sp_handle.psp_handle = handle();
    event.local_ia_address_ptr = own_address_of(ia());
    event.conn_qual = qualifier;
    event.cr_handle = cr.handle();
    evd->deliver(arrival);
}

Psp::Psp(Ia &ia, DAT_CONN_QUAL its_qualifier, Evd &its_evd, DAT_PSP_FLAGS its_flags,
         std::unique_ptr<ServicePointListener> listener)
    : Sp(KIND, ia, its_qualifier, its_evd, std::move(listener)), flags(its_flags) {}

Ep *Psp::endpoint(const Link &link) {
    return flags == DAT_PSP_PROVIDER_FLAG ? &make_endpoint(ia(), link) : nullptr;
}

Rsp::Rsp(Ia &ia, DAT_CONN_QUAL its_qualifier, Ep *its_ep, Evd &its_evd,
         std::unique_ptr<ServicePointListener> listener)
    : Sp(KIND, ia, its_qualifier, its_evd, std::move(listener)) {
    if (its_ep == nullptr)
        return;
    reserve(*its_ep);
    ep->state = DAT_EP_STATE_RESERVED;
}

Rsp::~Rsp() {
    if (ep == nullptr)
        return;
    ep->rsp = nullptr;
    if (ep->state == DAT_EP_STATE_RESERVED)
        ep->state = DAT_EP_STATE_UNCONNECTED;
}

// The Ep notifies the Rsp that it was reserved for last when it is freed.
void Rsp::reserve(Ep &its_ep) noexcept {
    if (its_ep.rsp != nullptr)
        its_ep.rsp->ep = nullptr;
    its_ep.rsp = this;
    ep = &its_ep;
}

Ep *Rsp::endpoint(const Link &link) {
    if (ep == nullptr)
        reserve(make_endpoint(ia(), link));
    else
        ep->state = DAT_EP_STATE_PASSIVE_CONNECTION_PENDING;
    return ep;
}

// Stop at once: a consumer that gets the event may use the qualifier again.
void Rsp::arrived() noexcept {
    (void)stop_listening();
}

} // namespace rsmdat
