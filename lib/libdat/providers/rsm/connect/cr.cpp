// SPDX-License-Identifier: MIT
#include "connect/service.h"

#include "connect/nodes.h"

namespace rsmdat {

Cr::Cr(Ia &ia, std::unique_ptr<Link> its_link, const Terms &its_offer)
    : Object(KIND, ia), link(std::move(its_link)), offer(its_offer) {}

Cr::~Cr() {
    release_ep();
    if (link)
        refuse(ia(), std::move(link), LinkState::REFUSED);
}

void Cr::take_ep(Ep *its_ep) noexcept {
    ep = its_ep;
    if (ep != nullptr)
        ep->request = this;
}

// The Ep of an RSP is the consumer's again, that of a PSP was ours.
void Cr::release_ep() noexcept {
    Ep *released = std::exchange(ep, nullptr);
    if (released == nullptr)
        return;
    released->request = nullptr;
    if (released->state == DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING)
        ia().destroy(*released);
    else
        released->state = DAT_EP_STATE_UNCONNECTED;
}

void Cr::accept(Ep &with, std::span<const std::byte> private_data) {
    with.accept(link, private_data);
    with.request = nullptr;
    ep = nullptr;
}

void Cr::reject() noexcept {
    release_ep();
    refuse(ia(), std::move(link), LinkState::REJECTED);
}

void Cr::hand_off(Sp *to) noexcept {
    release_ep();
    if (to == nullptr)
        return refuse(ia(), std::move(link), LinkState::REFUSED);
    offer.qualifier = link->qualifier = to->qualifier;
    to->take(std::move(link), offer);
}

} // namespace rsmdat
