// SPDX-License-Identifier: MIT
#include "engine/connect/service.h"

namespace rsmengine {

Cr::Cr(Ia &ia, std::span<const std::byte> data)
    : Object(KIND, ia), private_data(data.begin(), data.end()) {}

Cr::~Cr() {
    release_ep();
    if (link)
        ia().transport->refuse(ia(), std::move(link), Refusal::BY_PROVIDER);
}

void Cr::take_ep(Ep *its_ep) noexcept {
    ep = its_ep;
    if (ep != nullptr)
        ep->request = this;
}

// The Ep of an RSP returns to the consumer; the engine made that of a PSP, and destroys it.
void Cr::release_ep() noexcept {
    Ep *released = std::exchange(ep, nullptr);
    if (released == nullptr)
        return;
    released->request = nullptr;
    if (released->state == EpState::TENTATIVE_PENDING)
        ia().destroy(*released);
    else
        released->state = EpState::UNCONNECTED;
}

Status Cr::accept(Ep &with, std::span<const std::byte> answer) {
    const Status result = with.connector->accept(link, answer);
    if (result != Status::OK)
        return result;
    with.request = nullptr;
    ep = nullptr;
    return Status::OK;
}

void Cr::reject() noexcept {
    release_ep();
    ia().transport->refuse(ia(), std::move(link), Refusal::BY_CONSUMER);
}

void Cr::hand_off(Sp *to) noexcept {
    release_ep();
    if (to == nullptr)
        return ia().transport->refuse(ia(), std::move(link), Refusal::BY_PROVIDER);
    link->qualifier = to->qualifier;
    to->take(std::move(link), private_data);
}

} // namespace rsmengine
