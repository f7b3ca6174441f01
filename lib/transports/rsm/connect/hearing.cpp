// SPDX-License-Identifier: MIT
#include "connect/hearing.h"

#include "connect/nodes.h"
#include "engine/connect/service.h"
#include "wire/device.h"

#include <sys/epoll.h>

namespace rsmdat {
namespace {

using namespace std::chrono_literals;

// Until what was missing for a request may be there.
constexpr auto RETRY = 20ms;

// Tells a requester whose segment is imported that nobody will take its request. The kernel copies:
// that takes no memory.
void refuse(const Import &import) noexcept {
    const auto refused = static_cast<std::uint32_t>(LinkState::REFUSED);
    (void)import.put_and_post(offsetof(Handshake, state), std::as_bytes(std::span(&refused, 1)));
}

// Does the requester still wait? Repeated requests, some of which come late, are told by what was
// answered to the first.
bool is_waiting(const Import &import, const SegmentAddress &from) noexcept {
    Ticket nonce{};
    std::uint32_t state = 0;
    return import.get(offsetof(Handshake, nonce), std::as_writable_bytes(std::span(nonce))) ==
               RSM_SUCCESS &&
           import.get(offsetof(Handshake, state), std::as_writable_bytes(std::span(&state, 1))) ==
               RSM_SUCCESS &&
           nonce == from.nonce && state == static_cast<std::uint32_t>(LinkState::OFFERED);
}

// A channel to the requester, and what it offers; null if there is no such request.
std::unique_ptr<Link> fetch(const Ia &ia, const SegmentAddress &from, Import &import,
                            Terms &offer) {
    std::unique_ptr<Channel> channel;
    const auto &[controller, ring] = std::tie(ia.options.controller, ia.options.ring);
    if (Channel::create(*ia.device, controller, from.node, ring, channel) != RSM_SUCCESS ||
        channel->attach(from, import) != RSM_SUCCESS) {
        refuse(import);
        return nullptr;
    }
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

Hearing *find_hearing(DAT_HANDLE handle, const Ia &ia) noexcept {
    Sp *sp = find_sp(handle, ia);
    return sp != nullptr ? sp->hearing() : nullptr;
}

void offer_to(Ia &ia, DAT_HANDLE self, std::unique_ptr<Link> link, const Terms &offer) noexcept {
    const Guard guard(ia.lock);
    Sp *sp = find_sp(self, ia);
    if (sp == nullptr || sp->qualifier != offer.qualifier)
        return refuse(ia, std::move(link), Refusal::BY_PROVIDER);
    sp->take(std::move(link), private_data_of(offer));
}

// Ia::lock not held: a node that does not answer may hold us up. False if something is missing that
// may be there later.
bool hear(Ia &ia, DAT_HANDLE self, const SegmentAddress &from) noexcept {
    Import import;
    const int status = Channel::reach(*ia.device, ia.options.controller, from, import);
    if (status == RSMERR_INSUFFICIENT_MEM || status == RSMERR_INSUFFICIENT_RESOURCES)
        return false;
    if (status != RSM_SUCCESS || !is_waiting(import, from))
        return true;
    Terms offer{};
    try {
        if (auto link = fetch(ia, from, import, offer))
            offer_to(ia, self, std::move(link), offer);
    } catch (const std::bad_alloc &) {
        refuse(import);
    }
    return true;
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
    Engine &engine = *sp_.ia().engine;
    engine.watch(listener_.letters_fd(), EPOLLIN, *this);
    if (listener_.slots_fd() < 0)
        return;
    try {
        engine.watch(listener_.slots_fd(), EPOLLIN, *this);
    } catch (...) {
        engine.forget(listener_.letters_fd());
        throw;
    }
}

Hearing::~Hearing() {
    Engine &engine = *sp_.ia().engine;
    engine.cancel(retry_);
    engine.forget(listener_.letters_fd());
    if (listener_.slots_fd() >= 0)
        engine.forget(listener_.slots_fd());
}

void Hearing::ready(std::uint32_t /*events*/) noexcept {
    listener_.take_bells();
    read_letters();
    if (listener_.slots_fd() >= 0)
        read_slots();
}

// One after the other: who sends many has no more of our time than who sends one.
void Hearing::read_letters() noexcept {
    if (reading_)
        return;
    try {
        sp_.ia().engine->aside([&its = sp_.ia(), self = sp_.handle()] { read_letter(its, self); });
        reading_ = true;
    } catch (const std::bad_alloc &) {
        read_later();
    }
}

void Hearing::read_later() noexcept {
    if (retry_ != 0)
        return;
    try {
        retry_ = sp_.ia().engine->at(Engine::Clock::now() + RETRY, [this] {
            retry_ = 0;
            read_letters();
        });
    } catch (const std::bad_alloc &) {
        return; // the next letter's bell brings it
    }
}

// On a helper's thread, without Ia::lock.
void Hearing::read_letter(Ia &ia, DAT_HANDLE self) noexcept {
    const auto from = take_letter(ia, self);
    if (!from)
        return;
    const bool heard = hear(ia, self, *from);
    const Guard guard(ia.lock);
    Hearing *hearing = find_hearing(self, ia);
    if (hearing == nullptr)
        return;
    hearing->reading_ = false;
    if (heard)
        return hearing->read_letters();
    hearing->unread_ = from;
    hearing->read_later();
}

std::optional<SegmentAddress> Hearing::take_letter(const Ia &ia, DAT_HANDLE self) noexcept {
    const Guard guard(ia.lock);
    Hearing *hearing = find_hearing(self, ia);
    if (hearing == nullptr)
        return std::nullopt;
    auto from = std::exchange(hearing->unread_, std::nullopt);
    if (!from)
        from = hearing->listener_.next_letter();
    hearing->reading_ = from.has_value();
    return from;
}

// Requests of different nodes don't wait for each other.
void Hearing::read_slots() noexcept {
    for (std::size_t i = 0; i < LISTENER_SLOTS; ++i) {
        const auto from = listener_.take(i);
        if (!from)
            continue;
        try {
            sp_.ia().engine->aside([&its = sp_.ia(), self = sp_.handle(), from = *from] {
                (void)hear(its, self, from);
            });
        } catch (const std::bad_alloc &) {
            listener_.forget(*from); // it will be repeated
        }
    }
}

// The channel goes aside: that takes a while.
void refuse(Ia &ia, std::unique_ptr<Link> link, Refusal how) noexcept {
    say_to_peer(*link->channel,
                how == Refusal::BY_CONSUMER ? LinkState::REJECTED : LinkState::REFUSED);
    try {
        ia.engine->aside([channel = std::move(link->channel)] {});
    } catch (const std::bad_alloc &) {
        // It has gone here and now.
    }
}

} // namespace rsmdat
