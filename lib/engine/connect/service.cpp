// SPDX-License-Identifier: MIT
#include "engine/connect/service.h"

#include "engine/connect/address.h"
#include "engine/connect/attributes.h"

#include <algorithm>
#include <utility>

namespace rsmengine {
namespace {

// Makes an Ep for a request that comes without one.
Ep &make_endpoint(Ia &ia, const Link &link) {
    EpAttributes attributes = default_attributes(ia.limits, true, true);
    const auto in = static_cast<Count>(link.max_rdma_read_in);
    const auto out = static_cast<Count>(link.max_rdma_read_out);
    attributes.max_rdma_read_in = std::max(attributes.max_rdma_read_in, in);
    attributes.max_rdma_read_out = std::min(attributes.max_rdma_read_out, out);
    Ep &ep = ia.adopt(std::make_unique<Ep>(ia, attributes));
    ep.state = EpState::TENTATIVE_PENDING;
    return ep;
}

} // namespace

Sp::Sp(ObjectKind kind, Ia &ia, Qualifier its_qualifier, Evd &its_evd,
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
    arrival.event.kind = EventKind::REQUEST;
    auto &event = arrival.event.request;
    event.service_point = handle();
    event.local_address = own_address_of(ia());
    event.qualifier = qualifier;
    event.request = cr.handle();
    evd->deliver(arrival);
}

Psp::Psp(Ia &ia, Qualifier its_qualifier, Evd &its_evd, EndpointsBy its_endpoints,
         std::unique_ptr<ServicePointListener> listener)
    : Sp(KIND, ia, its_qualifier, its_evd, std::move(listener)), endpoints(its_endpoints) {}

Ep *Psp::endpoint(const Link &link) {
    return endpoints == EndpointsBy::ENGINE ? &make_endpoint(ia(), link) : nullptr;
}

Rsp::Rsp(Ia &ia, Qualifier its_qualifier, Ep *its_ep, Evd &its_evd,
         std::unique_ptr<ServicePointListener> listener)
    : Sp(KIND, ia, its_qualifier, its_evd, std::move(listener)) {
    if (its_ep == nullptr)
        return;
    reserve(*its_ep);
    ep->state = EpState::RESERVED;
}

Rsp::~Rsp() {
    if (ep == nullptr)
        return;
    ep->rsp = nullptr;
    if (ep->state == EpState::RESERVED)
        ep->state = EpState::UNCONNECTED;
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
        ep->state = EpState::PASSIVE_PENDING;
    return ep;
}

// Stop at once: a consumer that gets the event may use the qualifier again.
void Rsp::arrived() noexcept {
    (void)stop_listening();
}

} // namespace rsmengine
