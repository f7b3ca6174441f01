// SPDX-License-Identifier: MIT
// An endpoint while it is connected, and how that ends.
#include "connect/ep.h"

#include "connect/service.h"

#include <sys/epoll.h>

namespace rsmdat {
namespace {

constexpr unsigned POLLS_PER_STEP = 256;

} // namespace

DAT_RETURN_SUBTYPE Ep::state_subtype() const noexcept {
    switch (state) {
    case DAT_EP_STATE_UNCONNECTED:
        return DAT_INVALID_STATE_EP_UNCONNECTED;
    case DAT_EP_STATE_RESERVED:
        return DAT_INVALID_STATE_EP_RESERVED;
    case DAT_EP_STATE_PASSIVE_CONNECTION_PENDING:
        return DAT_INVALID_STATE_EP_PASSCONNPENDING;
    case DAT_EP_STATE_ACTIVE_CONNECTION_PENDING:
        return DAT_INVALID_STATE_EP_ACTCONNPENDING;
    case DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING:
        return DAT_INVALID_STATE_EP_TENTCONNPENDING;
    case DAT_EP_STATE_CONNECTED:
        return DAT_INVALID_STATE_EP_CONNECTED;
    case DAT_EP_STATE_DISCONNECT_PENDING:
        return DAT_INVALID_STATE_EP_DISCPENDING;
    case DAT_EP_STATE_DISCONNECTED:
        return DAT_INVALID_STATE_EP_DISCONNECTED;
    case DAT_EP_STATE_COMPLETION_PENDING:
        return DAT_INVALID_STATE_EP_COMPLPENDING;
    default:
        return DAT_NO_SUBTYPE;
    }
}

const Link *Ep::known_link() const noexcept {
    if (link)
        return link.get();
    return request != nullptr ? request->link.get() : nullptr;
}

void Ep::ready(std::uint32_t events) noexcept {
    if (!link)
        return;
    if ((events & EPOLLIN) != 0)
        link->channel->take_bells();
    if ((events & (EPOLLRDHUP | EPOLLHUP)) != 0 && link->watches_peer) {
        engine().forget(link->channel->peer_fd());
        link->watches_peer = false;
    }
    step();
}

// A program that polls may keep the engine from the lock: so the peer's end is seen here, too, but
// that is not looked for each time.
void Ep::poll() noexcept {
    if (!link)
        return;
    if (transferring() && ++polls_ % POLLS_PER_STEP != 0)
        carry_on(said_by_peer(*link->channel), false);
    else
        step();
}

void Ep::disarm() noexcept {
    if (!transferring())
        return;
    Channel &channel = *link->channel;
    channel.recently_polled = true;
    if (!channel.armed())
        return;
    channel.disarm();
    engine().disarmed(channel, *this);
}

// That the peer is gone is looked at first, what it has said next and its data last: what it did
// before it went, or said so, is found then.
void Ep::step() noexcept {
    const bool attached = !link->attaching && link->channel->attached();
    const bool gone = attached && !link->channel->alive();
    const LinkState said = said_by_peer(*link->channel);
    if (state == DAT_EP_STATE_ACTIVE_CONNECTION_PENDING)
        set_up_active(said, gone);
    else if (state == DAT_EP_STATE_COMPLETION_PENDING)
        set_up_passive(said, gone);
    if (transferring())
        carry_on(said, gone);
}

void Ep::carry_on(LinkState said, bool gone) noexcept {
    const auto expected = link->active ? LinkState::ACCEPTED : LinkState::ESTABLISHED;
    transfer.progress();
    if (!transferring())
        return;
    if (said == LinkState::CLOSED)
        end(DAT_CONNECTION_EVENT_DISCONNECTED, LinkState::CLOSED);
    else if (said != expected || gone)
        end(DAT_CONNECTION_EVENT_BROKEN, LinkState::BROKEN);
}

DAT_RETURN Ep::disconnect(DAT_CLOSE_FLAGS flags) noexcept {
    switch (state) {
    case DAT_EP_STATE_DISCONNECTED:
        return DAT_SUCCESS;
    case DAT_EP_STATE_ACTIVE_CONNECTION_PENDING:
    case DAT_EP_STATE_COMPLETION_PENDING:
        fail(DAT_CONNECTION_EVENT_DISCONNECTED);
        return DAT_SUCCESS;
    case DAT_EP_STATE_CONNECTED:
    case DAT_EP_STATE_DISCONNECT_PENDING:
        state = DAT_EP_STATE_DISCONNECT_PENDING;
        if (flags == DAT_CLOSE_ABRUPT_FLAG || transfer.request_idle())
            end(DAT_CONNECTION_EVENT_DISCONNECTED, LinkState::CLOSED);
        return DAT_SUCCESS;
    default:
        return wrong_state();
    }
}

void Ep::broken() noexcept {
    if (transferring())
        end(DAT_CONNECTION_EVENT_BROKEN, LinkState::BROKEN);
}

void Ep::drained() noexcept {
    if (state == DAT_EP_STATE_DISCONNECT_PENDING)
        end(DAT_CONNECTION_EVENT_DISCONNECTED, LinkState::CLOSED);
}

// Everything that was outstanding completes before the event that says why.
void Ep::end(DAT_EVENT_NUMBER event, LinkState tell) noexcept {
    state = DAT_EP_STATE_DISCONNECTED;
    transfer.disconnected();
    tell_peer(tell);
    drop_link();
    report(event);
}

void Ep::tell_peer(LinkState what) const noexcept {
    if (!link->attaching && link->channel->attached())
        say_to_peer(*link->channel, what);
}

// The channel goes on the engine's thread: that takes a while, and our caller may be using it.
void Ep::drop_link() noexcept {
    stop();
    buried_ = std::move(link->channel);
    link.reset();
    try {
        engine().later([&lock = ia().lock, channel = buried_] { const Guard until_free(lock); });
        buried_.reset();
    } catch (const std::bad_alloc &) {
        // It goes when the Ep is used again or freed.
    }
}

DAT_RETURN Ep::reset() noexcept {
    if (state == DAT_EP_STATE_UNCONNECTED)
        return DAT_SUCCESS;
    if (state != DAT_EP_STATE_DISCONNECTED)
        return wrong_state();
    transfer.reset();
    established_data.clear();
    buried_.reset();
    state = DAT_EP_STATE_UNCONNECTED;
    return DAT_SUCCESS;
}

// Such an event may stay queued when the Ep is reset or freed: nothing in it is the Ep's.
void Ep::report(DAT_EVENT_NUMBER event) noexcept {
    Arrival arrival;
    arrival.event.event_number = event;
    arrival.event.event_data.connect_event_data.ep_handle = handle();
    if (connect_evd != nullptr)
        connect_evd->deliver(arrival);
}

} // namespace rsmdat
