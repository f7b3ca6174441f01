// SPDX-License-Identifier: MIT
#include "connect/service.h"

#include "connect/attributes.h"
#include "connect/nodes.h"
#include "wire/device.h"

#include <algorithm>
#include <cstring>
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
    if (sp != nullptr && sp->qualifier == offer.qualifier)
        sp->take(std::move(link), offer);
    else
        refuse(ia, std::move(link), LinkState::REFUSED);
}

// An Ep for a request whose consumer has none.
Ep &make_endpoint(Ia &ia, const Link &link) {
    DAT_EP_ATTR attributes = default_attributes(true, true);
    const auto in = static_cast<DAT_COUNT>(link.max_rdma_read_in);
    const auto out = static_cast<DAT_COUNT>(link.max_rdma_read_out);
    attributes.max_rdma_read_in = std::max(attributes.max_rdma_read_in, in);
    attributes.max_rdma_read_out = std::min(attributes.max_rdma_read_out, out);
    Ep &ep = ia.adopt(std::make_unique<Ep>(ia, attributes));
    ep.state = DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING;
    return ep;
}

} // namespace

// The channel goes on the engine's thread: that takes a while.
void refuse(Ia &ia, std::unique_ptr<Link> link, LinkState how) noexcept {
    say_to_peer(*link->channel, how);
    try {
        ia.engine->later([channel = std::move(link->channel)] {});
    } catch (const std::bad_alloc &) {
        // It has gone here and now.
    }
}

Sp::Sp(DAT_HANDLE_TYPE kind, Ia &ia, DAT_CONN_QUAL its_qualifier, Evd &its_evd, Listener listener)
    : Object(kind, ia), qualifier(its_qualifier), evd(&its_evd), listener_(std::move(listener)) {
    ia.engine->watch(listener_.fd(), EPOLLIN, *this);
    ++evd->users;
}

Sp::~Sp() {
    stop_listening();
    --evd->users;
}

// Whoever comes from now on finds nobody; those whom the engine is about to fetch are refused.
void Sp::stop_listening() noexcept {
    if (!std::exchange(listening_, false))
        return;
    ia().engine->forget(listener_.fd());
    listener_ = Listener();
}

void Sp::ready(std::uint32_t /*events*/) noexcept {
    listener_.take_bells();
    for (std::size_t i = 0; i < LISTENER_SLOTS; ++i) {
        const auto slot = listener_.take(i);
        if (!slot || slot->qualifier != qualifier)
            continue;
        try {
            ia().engine->later([&its = ia(), self = handle(), from = address_of(slot->from)] {
                hear(its, self, from);
            });
        } catch (const std::bad_alloc &) {
            // It will be repeated.
        }
    }
}

void Sp::take(std::unique_ptr<Link> link, const Terms &offer) noexcept {
    if (!listening_ || !evd->has_room())
        return refuse(ia(), std::move(link), LinkState::REFUSED);
    Cr *cr = nullptr;
    try {
        cr = &ia().adopt(std::make_unique<Cr>(ia(), std::move(link), offer));
        cr->take_ep(endpoint(*cr->link));
    } catch (const std::bad_alloc &) {
        if (cr != nullptr)
            ia().destroy(*cr);
        return;
    }
    announce(*cr);
    arrived();
}

void Sp::announce(Cr &cr) noexcept {
    Channel &channel = *cr.link->channel;
    channel.peers().answer_from = credentials_of(channel.address());
    say_to_peer(channel, LinkState::ARRIVED);
    Arrival arrival;
    arrival.event.event_number = DAT_CONNECTION_REQUEST_EVENT;
    auto &event = arrival.event.event_data.cr_arrival_event_data;
    event.sp_handle.psp_handle = handle();
    event.local_ia_address_ptr = own_address_of(ia());
    event.conn_qual = qualifier;
    event.cr_handle = cr.handle();
    evd->deliver(arrival);
}

DAT_IA_ADDRESS_PTR own_address_of(const Ia &ia) noexcept {
    return address_pointer(ia.nodes->own_address());
}

// The interface has no const; nobody writes there.
DAT_IA_ADDRESS_PTR address_pointer(const sockaddr_storage &address) noexcept {
    return const_cast<sockaddr *>(reinterpret_cast<const sockaddr *>(&address));
}

Psp::Psp(Ia &ia, DAT_CONN_QUAL its_qualifier, Evd &its_evd, DAT_PSP_FLAGS its_flags,
         Listener listener)
    : Sp(KIND, ia, its_qualifier, its_evd, std::move(listener)), flags(its_flags) {}

Ep *Psp::endpoint(const Link &link) {
    return flags == DAT_PSP_PROVIDER_FLAG ? &make_endpoint(ia(), link) : nullptr;
}

Rsp::Rsp(Ia &ia, DAT_CONN_QUAL its_qualifier, Ep *its_ep, Evd &its_evd, Listener listener)
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

// The last Rsp that an Ep is reserved for is the one that hears of its end.
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

void Rsp::arrived() noexcept {
    stop_listening();
}

} // namespace rsmdat
