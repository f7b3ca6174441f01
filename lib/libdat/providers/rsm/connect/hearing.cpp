// SPDX-License-Identifier: MIT
#include "connect/hearing.h"

#include "connect/nodes.h"
#include "connect/service.h"
#include "wire/device.h"

#include <sys/epoll.h>

namespace rsmdat {
namespace {

// A channel to the requester, and what it offers; null if there is no such request. Ia::lock not
// held: a node that does not answer may hold us up.
std::unique_ptr<Link> fetch(Ia &ia, const SegmentAddress &from, Terms &offer) {
    std::unique_ptr<Channel> channel;
    const auto &[controller, ring] = std::tie(ia.options.controller, ia.options.ring);
    if (Channel::create(*ia.device, controller, from.node, ring, channel) != RSM_SUCCESS) {
        refuse(*ia.device, controller, from);
        return nullptr;
    }
    // Repeated requests, some of which come late, are told by what was answered to the first.
    const auto offered = static_cast<std::uint32_t>(LinkState::OFFERED);
    if (channel->attach(from) != RSM_SUCCESS ||
        channel->peers().state.load(std::memory_order_acquire) != offered)
        return nullptr;
    if (!read_terms(channel->peers().offer, offer)) {
        say_to_peer(*channel, LinkState::REFUSED);
        return nullptr;
    }
    auto link = std::make_unique<Link>();
    link->channel = std::move(channel);
    link->local_port = new_port();
    link->remote_port = offer.port;
    link->qualifier = offer.qualifier;
    link->remote = ia.nodes->address_of(from.node);
    link->remote_node = from.node;
    link->max_rdma_read_out = offer.max_rdma_read_in;
    link->max_rdma_read_in = offer.max_rdma_read_out;
    return link;
}

Sp *find_sp(DAT_HANDLE handle, const Ia &ia) noexcept {
    if (Psp *psp = find<Psp>(handle, ia); psp != nullptr)
        return psp;
    return find<Rsp>(handle, ia);
}

// On the engine's thread, without Ia::lock. The service point may be gone when the request is here.
void hear(Ia &ia, DAT_HANDLE self, const SegmentAddress &from) noexcept {
    std::unique_ptr<Link> link;
    Terms offer{};
    try {
        link = fetch(ia, from, offer);
    } catch (const std::bad_alloc &) {
        return refuse(*ia.device, ia.options.controller, from);
    }
    if (!link)
        return;
    const Guard guard(ia.lock);
    Sp *sp = find_sp(self, ia);
    if (sp == nullptr || sp->qualifier != offer.qualifier)
        return refuse(ia, std::move(link), Refusal::BY_PROVIDER);
    sp->take(std::move(link), private_data_of(offer));
}

} // namespace

DAT_RETURN listen(const Ia &ia, DAT_CONN_QUAL qualifier, Listener &listener) noexcept {
    const int status = Listener::open(*ia.device, ia.options.controller, qualifier, listener);
    if (status == RSM_SUCCESS)
        return DAT_SUCCESS;
    return status == RSMERR_SEGID_IN_USE ? failure(DAT_CONN_QUAL_IN_USE)
                                         : no_resource(DAT_RESOURCE_MEMORY);
}

Hearing::Hearing(Sp &sp, Listener listener) : sp_(sp), listener_(std::move(listener)) {
    sp_.ia().engine->watch(listener_.fd(), EPOLLIN, *this);
}

Hearing::~Hearing() {
    sp_.ia().engine->forget(listener_.fd());
}

void Hearing::ready(std::uint32_t /*events*/) noexcept {
    listener_.take_bells();
    for (std::size_t i = 0; i < LISTENER_SLOTS; ++i) {
        const auto slot = listener_.take(i);
        if (!slot || slot->qualifier != sp_.qualifier)
            continue;
        try {
            sp_.ia().engine->later([&its = sp_.ia(), self = sp_.handle(),
                                    from = address_of(slot->from)] { hear(its, self, from); });
        } catch (const std::bad_alloc &) {
            // It will be repeated.
        }
    }
}

// The channel goes on the engine's thread: that takes a while.
void refuse(Ia &ia, std::unique_ptr<Link> link, Refusal how) noexcept {
    say_to_peer(*link->channel,
                how == Refusal::BY_CONSUMER ? LinkState::REJECTED : LinkState::REFUSED);
    try {
        ia.engine->later([channel = std::move(link->channel)] {});
    } catch (const std::bad_alloc &) {
        // It has gone here and now.
    }
}

} // namespace rsmdat
