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
    // The peer may offer more than this device takes.
    attributes.max_rdma_read_in =
        std::min(std::max(attributes.max_rdma_read_in, in), ia.limits.rdma_reads_per_ep);
    attributes.max_rdma_read_out = std::min(attributes.max_rdma_read_out, out);
    Ep &ep = ia.adopt(std::make_unique<Ep>(ia, attributes));
    ep.state = EpState::TENTATIVE_PENDING;
    return ep;
}

} // namespace

Sp::Sp(ObjectKind kind, Ia &ia, Qualifier its_qualifier, Evd &its_evd)
    : Object(kind, ia), qualifier(its_qualifier), evd(&its_evd) {
    ++evd->users;
}

void Sp::listen(std::unique_ptr<ServicePointListener> &listener) {
    try {
        listener->serve(*this);
    } catch (...) {
        listener->stop();
        throw;
    }
    listener_ = std::move(listener);
}

Sp::~Sp() {
    leave_evd();
}

void Sp::leave_evd() noexcept {
    if (auto last = stop_listening())
        ia().engine->end_aside(std::move(last));
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
    ia().transport->acknowledge(*link);
    received(std::move(link), private_data);
}

void Sp::present(std::unique_ptr<Link> link, std::span<const std::byte> private_data) noexcept {
    Cr *cr = nullptr;
    try {
        cr = &ia().adopt(std::make_unique<Cr>(ia(), private_data));
        cr->take_ep(endpoint(*link));
    } catch (const std::bad_alloc &) {
        if (cr != nullptr)
            ia().destroy(*cr);
        return ia().transport->refuse(ia(), std::move(link), Refusal::BY_PROVIDER);
    }
    cr->link = std::move(link);
    announce(*cr);
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

Psp::Psp(Ia &ia, Qualifier its_qualifier, Evd &its_evd, EndpointsBy its_endpoints)
    : Sp(KIND, ia, its_qualifier, its_evd), endpoints(its_endpoints) {}

Ep *Psp::endpoint(const Link &link) {
    return endpoints == EndpointsBy::ENGINE ? &make_endpoint(ia(), link) : nullptr;
}

// Made with the Rsp, because the end of the listener must not need memory.
class Rsp::ListenerEnd final : public Job {
  public:
    explicit ListenerEnd(Rsp &rsp) noexcept : ia_(rsp.ia()), rsp_(rsp.handle()) {}
    void run() noexcept override;

    std::unique_ptr<ServicePointListener> listener;

  private:
    Ia &ia_;
    Handle rsp_;
};

// The Rsp may be freed meanwhile.
void Rsp::ListenerEnd::run() noexcept {
    listener.reset();
    const Guard guard(ia_.lock);
    if (Rsp *rsp = find<Rsp>(rsp_, ia_))
        rsp->listener_ended();
    ia_.listener_ended.wake();
}

Rsp::Rsp(Ia &ia, Qualifier its_qualifier, Ep *its_ep, Evd &its_evd)
    : Sp(KIND, ia, its_qualifier, its_evd), end_(std::make_unique<ListenerEnd>(*this)) {
    if (its_ep == nullptr)
        return;
    reserve(*its_ep);
    ep->state = EpState::RESERVED;
}

Rsp::~Rsp() {
    if (request_)
        ia().transport->refuse(ia(), std::move(request_), Refusal::BY_PROVIDER);
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

void Rsp::received(std::unique_ptr<Link> link, std::span<const std::byte> private_data) noexcept {
    try {
        private_data_.assign(private_data.begin(), private_data.end());
    } catch (const std::bad_alloc &) {
        return ia().transport->refuse(ia(), std::move(link), Refusal::BY_PROVIDER);
    }
    request_ = std::move(link);
    end_->listener = stop_listening();
    ia().engine->end_aside(std::move(end_));
}

// The EVD may be full now, or have gone with the open that it belonged to.
void Rsp::listener_ended() noexcept {
    if (evd == nullptr || !evd->has_room())
        return ia().transport->refuse(ia(), std::move(request_), Refusal::BY_PROVIDER);
    present(std::move(request_), private_data_);
}

Rsp *Rsp::settled(Handle rsp, Ia &ia, Guard &guard) noexcept {
    Rsp *found = find<Rsp>(rsp, ia);
    while (found != nullptr && found->request_) {
        const auto ticket = ia.listener_ended.ticket();
        {
            const UnlockedScope unlocked(ia, guard);
            (void)ia.listener_ended.sleep(ticket, {});
        }
        found = find<Rsp>(rsp, ia);
    }
    return found;
}

} // namespace rsmengine
