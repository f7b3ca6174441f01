// SPDX-License-Identifier: MIT
// An endpoint while it is connected, and how that ends.
#include "engine/connect/ep.h"

#include <sys/epoll.h>

namespace rsmdat {
namespace {

constexpr unsigned POLLS_PER_STEP = 256;

} // namespace

Engine &Connector::engine() const noexcept {
    return *ep_.ia().engine;
}

void Connector::ready(std::uint32_t events) noexcept {
    if (!ep_.link)
        return;
    if ((events & EPOLLIN) != 0)
        ep_.link->channel->take_bells();
    const bool hung_up = (events & (EPOLLRDHUP | EPOLLHUP)) != 0;
    if (hung_up && ep_.link->watches_peer) {
        engine().forget(ep_.link->channel->peer_fd());
        ep_.link->watches_peer = false;
    }
    if (hung_up && ep_.link->watches_listener)
        return unheard(RSMERR_SEG_NOT_PUBLISHED);
    step();
}

// A program that polls may keep the engine from the lock: so the peer's end is seen here, too, but
// that is not looked for each time. Polling mostly finds nothing.
void Connector::poll(bool again) noexcept {
    if (!ep_.link)
        return;
    if (!ep_.transferring())
        return step();
    Channel &channel = *ep_.link->channel;
    if (again) {
        channel.recently_polled = true;
        if (channel.armed())
            disarm();
    }
    if (++polls_ % POLLS_PER_STEP == 0)
        return step();
    const LinkState said = said_by_peer(channel);
    if (said != expected() || ep_.transfer.has_work())
        carry_on(said, false);
}

void Connector::disarm() noexcept {
    Channel &channel = *ep_.link->channel;
    channel.disarm();
    engine().disarmed(channel, *this);
}

// The peer: what it asks for is carried out by our side.
bool Connector::has_listeners() const noexcept {
    return true;
}

// That the peer is gone is looked at first, what it has said next and its data last: what it did
// before it went, or said so, is found then.
void Connector::step() noexcept {
    const bool attached = !ep_.link->attaching && ep_.link->channel->attached();
    const bool gone = attached && !ep_.link->channel->alive();
    const LinkState said = said_by_peer(*ep_.link->channel);
    if (ep_.state == DAT_EP_STATE_ACTIVE_CONNECTION_PENDING)
        set_up_active(said, gone);
    else if (ep_.state == DAT_EP_STATE_COMPLETION_PENDING)
        set_up_passive(said, gone);
    if (ep_.transferring())
        carry_on(said, gone);
}

// Messages of the peer as long as the connection lasts.
LinkState Connector::expected() const noexcept {
    return ep_.link->active ? LinkState::ACCEPTED : LinkState::ESTABLISHED;
}

void Connector::carry_on(LinkState said, bool gone) noexcept {
    ep_.transfer.progress();
    if (!ep_.transferring())
        return;
    if (said == LinkState::CLOSED)
        ep_.end(DAT_CONNECTION_EVENT_DISCONNECTED, Ending::CLOSED);
    else if (said != expected() || gone)
        ep_.end(DAT_CONNECTION_EVENT_BROKEN, Ending::BROKEN);
}

void Connector::tell_peer(LinkState what) const noexcept {
    if (!ep_.link->attaching && ep_.link->channel->attached())
        say_to_peer(*ep_.link->channel, what);
}

// The channel goes aside: that takes a while, and our caller may be using it.
void Connector::drop_link() noexcept {
    stop();
    buried_ = std::move(ep_.link->channel);
    ep_.link.reset();
    try {
        engine().aside(
            [&lock = ep_.ia().lock, channel = buried_] { const Guard until_free(lock); });
        buried_.reset();
    } catch (const std::bad_alloc &) {
        // It goes when the Ep is used again or freed.
    }
}

void Connector::hang_up(Ending ending) noexcept {
    tell_peer(ending == Ending::CLOSED ? LinkState::CLOSED : LinkState::BROKEN);
    drop_link();
}

void Connector::give_up() noexcept {
    tell_peer(ep_.link->active ? LinkState::REFUSED : LinkState::CLOSED);
    drop_link();
}

} // namespace rsmdat
