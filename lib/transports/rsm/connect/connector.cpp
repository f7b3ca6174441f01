// SPDX-License-Identifier: MIT
// An endpoint's way from UNCONNECTED to CONNECTED, and how that, or a connection, ends.
#include "connect/nodes.h"
#include "engine/connect/ep.h"
#include "wire/device.h"

#include <algorithm>
#include <cstring>
#include <sys/epoll.h>

namespace rsmdat {
namespace {

using namespace std::chrono_literals;

// Requests are seldom overwritten, and a listener is not to be busy with those that it has.
constexpr auto RESEND = 20ms;
// The active side completes an accept on its own: if it has not by then it is stopped.
constexpr DAT_TIMEOUT COMPLETION = 20'000'000;
// Nobody knows which node has an address.
constexpr std::uint32_t NO_NODE = UINT32_MAX;

DAT_EVENT_NUMBER why_not(int status) noexcept {
    const bool nowhere =
        status == RSMERR_REMOTE_NODE_UNREACHABLE || status == RSMERR_CTLR_NOT_PRESENT;
    return nowhere ? DAT_CONNECTION_EVENT_UNREACHABLE : DAT_CONNECTION_EVENT_NON_PEER_REJECTED;
}

std::uint32_t lesser(std::uint32_t theirs, DAT_COUNT ours) noexcept {
    return std::min(theirs, static_cast<std::uint32_t>(ours));
}

} // namespace

DAT_RETURN Connector::connect(const sockaddr_storage &remote, DAT_CONN_QUAL qualifier,
                              DAT_TIMEOUT timeout, std::span<const std::byte> private_data) {
    const auto *address = reinterpret_cast<const sockaddr *>(&remote);
    const auto node = ep_.ia().nodes->node_of(*address);
    return connect(remote, node.value_or(NO_NODE), qualifier, timeout, private_data);
}

DAT_RETURN Connector::connect_like(const Link &model, DAT_TIMEOUT timeout,
                                   std::span<const std::byte> private_data) {
    return connect(model.remote, model.remote_node, model.qualifier, timeout, private_data);
}

DAT_RETURN Connector::connect(const sockaddr_storage &remote, std::uint32_t node,
                              DAT_CONN_QUAL qualifier, DAT_TIMEOUT timeout,
                              std::span<const std::byte> private_data) {
    const Ia &its = ep_.ia();
    if (node == NO_NODE || (node != its.device->node() && its.options.controller == "loopback")) {
        ep_.fail(DAT_CONNECTION_EVENT_UNREACHABLE);
        return DAT_SUCCESS;
    }
    std::unique_ptr<Channel> channel;
    const int status =
        Channel::create(*its.device, its.options.controller, node, its.options.ring, channel);
    if (status != RSM_SUCCESS)
        return no_resource(status == RSMERR_INSUFFICIENT_MEM ? DAT_RESOURCE_MEMORY
                                                             : DAT_RESOURCE_TEP);
    auto fresh = std::make_unique<Link>();
    fresh->channel = std::move(channel);
    fresh->active = true;
    fresh->local_port = new_port();
    fresh->qualifier = qualifier;
    fresh->remote = remote;
    fresh->remote_node = node;
    write_terms(fresh->channel->ours().offer, *fresh,
                static_cast<std::uint32_t>(ep_.attributes.max_rdma_read_in),
                static_cast<std::uint32_t>(ep_.attributes.max_rdma_read_out), private_data);
    ep_.prepare();
    start(fresh, timeout, DAT_CONNECTION_EVENT_TIMED_OUT);
    try {
        call();
    } catch (...) {
        drop_link();
        throw;
    }
    ep_.state = DAT_EP_STATE_ACTIVE_CONNECTION_PENDING;
    return DAT_SUCCESS;
}

// Terms go to the requester before it is told that they are there.
DAT_RETURN Connector::accept(std::unique_ptr<Link> &from, std::span<const std::byte> private_data) {
    start(from, COMPLETION, DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR);
    ep_.link->max_rdma_read_out =
        lesser(ep_.link->max_rdma_read_out, ep_.attributes.max_rdma_read_out);
    ep_.link->max_rdma_read_in =
        lesser(ep_.link->max_rdma_read_in, ep_.attributes.max_rdma_read_in);
    write_terms(ep_.link->channel->peers().answer, *ep_.link, ep_.link->max_rdma_read_in,
                ep_.link->max_rdma_read_out, private_data);
    ep_.state = DAT_EP_STATE_COMPLETION_PENDING;
    say_to_peer(*ep_.link->channel, LinkState::ACCEPTED);
    return DAT_SUCCESS;
}

// Takes over a link; leaves it where it was if something throws. After `timeout` the attempt has
// failed with the event `late`.
void Connector::start(std::unique_ptr<Link> &from, DAT_TIMEOUT timeout, DAT_EVENT_NUMBER late) {
    buried_.reset();
    ep_.link = std::move(from);
    Channel &channel = *ep_.link->channel;
    try {
        ep_.feed();
        ep_.link->watches_bell = true;
        engine().watch(channel.bell_fd(), EPOLLIN, *this);
        ep_.link->watches_peer = channel.attached();
        if (ep_.link->watches_peer)
            engine().watch(channel.peer_fd(), EPOLLRDHUP, *this);
        ep_.limit(timeout, late);
    } catch (...) {
        stop();
        from = std::move(ep_.link);
        throw;
    }
}

void Connector::stop() noexcept {
    ep_.unlimit();
    call_off();
    if (std::exchange(ep_.link->watches_bell, false))
        engine().forget(ep_.link->channel->bell_fd());
    if (std::exchange(ep_.link->watches_peer, false))
        engine().forget(ep_.link->channel->peer_fd());
    engine().gone(*ep_.link->channel);
    ep_.unfeed();
}

// The request is over. Its handle goes aside.
void Connector::call_off() noexcept {
    engine().cancel(std::exchange(ep_.link->resend, 0));
    if (std::exchange(ep_.link->watches_listener, false))
        engine().forget(ep_.link->call->fd());
    try {
        if (ep_.link->call)
            engine().aside([call = ep_.link->call] {});
    } catch (const std::bad_alloc &) {
        // It goes here and now.
    }
    ep_.link->call.reset();
}

// Without the lock: a node that does not answer may hold us up. The Ep may be gone afterwards.
void Connector::call() {
    ep_.link->call = std::make_shared<Call>(ep_.link->channel->address(), ep_.link->qualifier);
    engine().aside([&its = ep_.ia(), self = ep_.handle(), call = ep_.link->call,
                    node = ep_.link->remote_node] {
        const int status = call->place(*its.device, its.options.controller, node);
        const Guard guard(its.lock);
        Ep *ep = find<Ep>(self, its);
        if (ep != nullptr && ep->link && ep->link->call == call)
            ep->connector.called(status);
    });
}

void Connector::called(int status) noexcept {
    if (status != RSM_SUCCESS)
        return unheard(status);
    try {
        if (ep_.link->call->needs_repetition())
            ep_.link->resend = engine().at(Engine::Clock::now() + RESEND, [this] { call_again(); });
        else
            watch_listener();
    } catch (const std::bad_alloc &) {
        ep_.fail(DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
    }
}

void Connector::watch_listener() {
    engine().watch(ep_.link->call->fd(), EPOLLRDHUP, *this);
    ep_.link->watches_listener = true;
}

// A service point for one request only is gone as soon as it has taken ours.
void Connector::unheard(int status) noexcept {
    step();
    if (ep_.link && ep_.link->call)
        ep_.fail(why_not(status));
}

// It may have been answered already, and the service point be gone since.
void Connector::call_again() noexcept {
    ep_.link->resend = 0;
    step();
    if (ep_.link && ep_.link->call)
        called(ep_.link->call->repeat());
}

void Connector::set_up_active(LinkState said, bool gone) noexcept {
    const bool attached = !ep_.link->attaching && ep_.link->channel->attached();
    const bool asked = said == LinkState::ARRIVED || said == LinkState::ACCEPTED;
    if (said == LinkState::OFFERED)
        return;
    if (said == LinkState::REJECTED)
        ep_.fail(DAT_CONNECTION_EVENT_PEER_REJECTED);
    else if (asked && !ep_.link->arrived)
        arrived();
    else if (said == LinkState::ACCEPTED && attached)
        accepted();
    else if (!asked || gone)
        ep_.fail(DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
}

// The listener has imported our segment and tells where its own is.
void Connector::arrived() noexcept {
    ep_.link->arrived = true;
    call_off();
    ep_.link->channel->close_door();
    Credentials from{};
    std::memcpy(&from, &ep_.link->channel->ours().answer_from, sizeof from);
    ep_.link->attaching = true;
    try {
        attach(address_of(from));
    } catch (const std::bad_alloc &) {
        ep_.link->attaching = false;
        ep_.fail(DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
    }
}

void Connector::attach(const SegmentAddress &peer) {
    engine().aside([&its = ep_.ia(), self = ep_.handle(), channel = ep_.link->channel, peer] {
        const int status = channel->attach(peer);
        const Guard guard(its.lock);
        Ep *ep = find<Ep>(self, its);
        if (ep != nullptr && ep->link && ep->link->channel == channel)
            ep->connector.attached(status);
    });
}

// A listener that has rejected the request meanwhile has left nothing but its word.
void Connector::attached(int status) noexcept {
    ep_.link->attaching = false;
    if (status != RSM_SUCCESS)
        return ep_.fail(said_by_peer(*ep_.link->channel) == LinkState::REJECTED
                            ? DAT_CONNECTION_EVENT_PEER_REJECTED
                            : DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
    try {
        engine().watch(ep_.link->channel->peer_fd(), EPOLLRDHUP, *this);
        ep_.link->watches_peer = true;
    } catch (const std::bad_alloc &) {
        return ep_.fail(DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
    }
    step();
}

void Connector::accepted() noexcept {
    Terms answer{};
    if (!read_terms(ep_.link->channel->ours().answer, answer))
        return ep_.fail(DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
    ep_.link->remote_port = answer.port;
    ep_.link->max_rdma_read_out = lesser(answer.max_rdma_read_in, ep_.attributes.max_rdma_read_out);
    ep_.link->max_rdma_read_in = lesser(answer.max_rdma_read_out, ep_.attributes.max_rdma_read_in);
    say_to_peer(*ep_.link->channel, LinkState::ESTABLISHED);
    establish(private_data_of(answer));
}

// A peer that ended it right after it was established has overwritten that.
void Connector::set_up_passive(LinkState said, bool gone) noexcept {
    const bool established =
        said == LinkState::ESTABLISHED || said == LinkState::CLOSED || said == LinkState::BROKEN;
    if (established) {
        ep_.link->channel->close_door();
        establish({});
    } else if (said != LinkState::OFFERED || gone) {
        ep_.fail(DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR);
    }
}

// The rings are looked at after the event is posted.
void Connector::establish(std::span<const std::byte> private_data) noexcept {
    ep_.establish(private_data);
    ep_.transfer.connected(*ep_.link->channel);
}

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
