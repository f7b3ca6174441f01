// SPDX-License-Identifier: MIT
#include "connect/service_point_listener.h"

#include "connect/nodes.h"
#include "core/transport.h"
#include "engine/connect/service.h"
#include "engine/core/own.h"
#include "wire/device.h"

#include <sys/epoll.h>
#include <tuple>
#include <utility>

namespace rsmengine {
namespace {

using namespace std::chrono_literals;

// The pause before a request is tried again for which a resource was missing.
constexpr auto RETRY = 20ms;

// Refuses a request whose segment is imported. The kernel copies the word, which may take memory.
int refuse(const Import &import) noexcept {
    const auto refused = static_cast<std::uint32_t>(LinkState::REFUSED);
    return import.put_and_post(offsetof(Handshake, state), std::as_bytes(std::span(&refused, 1)));
}

// RSM_SUCCESS if the requester still waits. A late repetition of a request is recognised by the
// answer to the first.
int check_request(const Import &import, const SegmentAddress &from) noexcept {
    Ticket nonce{};
    std::uint32_t state = 0;
    int status = import.get(offsetof(Handshake, nonce), std::as_writable_bytes(std::span(nonce)));
    if (status == RSM_SUCCESS)
        status =
            import.get(offsetof(Handshake, state), std::as_writable_bytes(std::span(&state, 1)));
    if (status != RSM_SUCCESS)
        return status;
    const bool waits =
        nonce == from.nonce && state == static_cast<std::uint32_t>(LinkState::OFFERED);
    return waits ? RSM_SUCCESS : RSMERR_SEG_NOT_PUBLISHED;
}

// A resource is missing now, and may be there later.
bool is_shortage(int status) noexcept {
    return status == RSMERR_INSUFFICIENT_MEM || status == RSMERR_INSUFFICIENT_RESOURCES;
}

// Opens a channel to the requester and copies its offer; null if there is no such request, or if a resource is missing.
// Takes all memory before the channel has the import, by which the requester is refused when there is none.
std::unique_ptr<RsmLink> fetch(const Ia &ia, const SegmentAddress &from, Import &import,
                               Terms &offer) {
    auto link = std::make_unique<RsmLink>();
    const auto owner = std::make_shared<std::unique_ptr<Channel>>();
    std::unique_ptr<Channel> &channel = *owner;
    const auto &[controller, ring] =
        std::tie(transport_of(ia).options.controller, transport_of(ia).options.ring);
    if (Channel::create(*transport_of(ia).device, controller, from.node, ring, channel) !=
            RSM_SUCCESS ||
        channel->attach(from, import) != RSM_SUCCESS)
        return nullptr;
    if (!read_terms(channel->peers().offer, offer)) {
        say_to_peer(*channel, LinkState::REFUSED);
        return nullptr;
    }
    link->channel = {owner, owner->get()};
    link->local_port = new_port();
    link->remote_port = offer.port;
    link->qualifier = offer.qualifier;
    link->remote = transport_of(ia).nodes->address_of(from.node);
    link->remote_node = from.node;
    link->max_rdma_read_out = offer.max_rdma_read_in;
    link->max_rdma_read_in = offer.max_rdma_read_out;
    return link;
}

Sp *find_sp(Handle handle, const Ia &ia) noexcept {
    if (Psp *psp = find<Psp>(handle, ia); psp != nullptr)
        return psp;
    return find<Rsp>(handle, ia);
}

RsmServicePointListener *find_listener(Handle handle, const Ia &ia) noexcept {
    Sp *sp = find_sp(handle, ia);
    return sp != nullptr ? own_or_null<RsmServicePointListener>(sp->listener()) : nullptr;
}

void offer_to(Ia &ia, Handle self, std::unique_ptr<RsmLink> link, const Terms &offer) noexcept {
    const Guard guard(ia.lock);
    Sp *sp = find_sp(self, ia);
    if (sp == nullptr || sp->qualifier != offer.qualifier)
        return refuse(ia, std::move(link), Refusal::BY_PROVIDER);
    sp->take(std::move(link), private_data_of(offer));
}

// Refuses the request if a resource is missing. False if one is missing for that, too.
bool take_offer(Ia &ia, Handle self, const SegmentAddress &from, Import &import) noexcept {
    Terms offer{};
    try {
        if (auto link = fetch(ia, from, import, offer))
            offer_to(ia, self, std::move(link), offer);
    } catch (const std::bad_alloc &) {
        // The import is still here, as below.
    }
    return !import || !is_shortage(refuse(import));
}

// Ia::lock not held, because a node that does not answer blocks this thread. False if a resource is
// missing now: try again later, with the same import, because a ticket is good for one.
bool receive_offer(Ia &ia, Handle self, const SegmentAddress &from, Import &import) noexcept {
    int status = RSM_SUCCESS;
    if (!import)
        status = Channel::reach(*transport_of(ia).device, transport_of(ia).options.controller, from,
                                import);
    if (status == RSM_SUCCESS)
        status = check_request(import, from);
    if (status == RSM_SUCCESS)
        return take_offer(ia, self, from, import);
    return !is_shortage(status);
}

} // namespace

void RsmServicePointListener::serve(Sp &sp) {
    watch(listener_.letters_fd(), watches_letters_);
    if (listener_.slots_fd() >= 0)
        watch(listener_.slots_fd(), watches_slots_);
    sp_ = &sp;
}

void RsmServicePointListener::watch(int fd, bool &watches) {
    ia_.engine->watch(fd, EPOLLIN, *this);
    watches = true;
}

// It was stopped or never served: the engine watches nothing of it.
RsmServicePointListener::~RsmServicePointListener() = default;

void RsmServicePointListener::stop() noexcept {
    if (retry_ != 0)
        ia_.engine->cancel(std::exchange(retry_, 0));
    if (std::exchange(watches_letters_, false))
        ia_.engine->forget(listener_.letters_fd());
    if (std::exchange(watches_slots_, false))
        ia_.engine->forget(listener_.slots_fd());
}

void RsmServicePointListener::ready(std::uint32_t /*events*/) noexcept {
    listener_.take_bells();
    read_letters();
    if (listener_.slots_fd() >= 0)
        read_slots();
}

// Reads letters one after the other, so that a process that sends many does not delay the others.
void RsmServicePointListener::read_letters() noexcept {
    if (reading_)
        return;
    try {
        ia_.engine->aside([&its = ia_, self = sp_->handle()] { read_letter(its, self); });
        reading_ = true;
    } catch (const std::bad_alloc &) {
        read_later();
    }
}

void RsmServicePointListener::read_later() noexcept {
    if (retry_ != 0)
        return;
    try {
        retry_ = ia_.engine->at(Engine::Clock::now() + RETRY, [this] {
            retry_ = 0;
            read_letters();
        });
    } catch (const std::bad_alloc &) {
        return; // the bell of the next letter calls this again
    }
}

// On a helper's thread, without Ia::lock.
void RsmServicePointListener::read_letter(Ia &ia, Handle self) noexcept {
    auto request = take_letter(ia, self);
    if (!request)
        return;
    const bool received = receive_offer(ia, self, request->from, request->import);
    const Guard guard(ia.lock);
    RsmServicePointListener *listener = find_listener(self, ia);
    if (listener == nullptr)
        return;
    listener->reading_ = false;
    if (received)
        return listener->read_letters();
    listener->unread_ = std::move(request);
    listener->read_later();
}

std::optional<RsmServicePointListener::Request>
RsmServicePointListener::take_letter(const Ia &ia, Handle self) noexcept {
    const Guard guard(ia.lock);
    RsmServicePointListener *listener = find_listener(self, ia);
    if (listener == nullptr)
        return std::nullopt;
    auto request = std::exchange(listener->unread_, std::nullopt);
    if (!request)
        if (const auto from = listener->listener_.next_letter())
            request = Request{*from, {}};
    listener->reading_ = request.has_value();
    return request;
}

// Handle each slot in a job of its own: requests of different nodes do not wait for each other.
void RsmServicePointListener::read_slots() noexcept {
    for (std::size_t i = 0; i < LISTENER_SLOTS; ++i) {
        const auto from = listener_.take(i);
        if (!from)
            continue;
        try {
            ia_.engine->aside(
                [&its = ia_, self = sp_->handle(), from = *from] { read_slot(its, self, from); });
        } catch (const std::bad_alloc &) {
            listener_.forget(*from); // it will be repeated
        }
    }
}

// On a helper's thread, without Ia::lock. The requester repeats a request that is forgotten.
void RsmServicePointListener::read_slot(Ia &ia, Handle self, const SegmentAddress &from) noexcept {
    Import import;
    if (receive_offer(ia, self, from, import))
        return;
    const Guard guard(ia.lock);
    if (RsmServicePointListener *listener = find_listener(self, ia))
        listener->listener_.forget(from);
}

} // namespace rsmengine
