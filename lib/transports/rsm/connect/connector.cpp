// SPDX-License-Identifier: MIT
// An endpoint's way from UNCONNECTED to CONNECTED, and how that, or a connection, ends.
#include "connect/connector.h"
#include "engine/core/own.h"

#include "connect/nodes.h"
#include "core/transport.h"
#include "transfer/transfer.h"
#include "wire/device.h"

#include <algorithm>
#include <cstring>
#include <sys/epoll.h>

namespace rsmengine {
namespace {

using namespace std::chrono_literals;

// Long, because requests are seldom overwritten, and each repetition costs the listener time.
constexpr auto RESEND = 20ms;
// The active side completes an accept by itself; the passive side fails if that takes longer.
constexpr std::chrono::seconds COMPLETION{20};
// No node is known to have the address.
constexpr std::uint32_t NO_NODE = UINT32_MAX;

EventKind why_not(int status) noexcept {
    const bool nowhere =
        status == RSMERR_REMOTE_NODE_UNREACHABLE || status == RSMERR_CTLR_NOT_PRESENT;
    return nowhere ? EventKind::UNREACHABLE : EventKind::NON_PEER_REJECTED;
}

std::uint32_t lesser(std::uint32_t theirs, Count ours) noexcept {
    return std::min(theirs, static_cast<std::uint32_t>(ours));
}

} // namespace

Status RsmConnector::connect(const sockaddr_storage &remote, Qualifier qualifier, Timeout timeout,
                             std::span<const std::byte> private_data) {
    const auto *address = reinterpret_cast<const sockaddr *>(&remote);
    const auto node = transport_of(ep_.ia()).nodes->node_of(*address);
    return connect(remote, node.value_or(NO_NODE), qualifier, timeout, private_data);
}

Status RsmConnector::connect_like(const Link &model, Timeout timeout,
                                  std::span<const std::byte> private_data) {
    return connect(model.remote, own<RsmLink>(model).remote_node, model.qualifier, timeout,
                   private_data);
}

Status RsmConnector::connect(const sockaddr_storage &remote, std::uint32_t node,
                             Qualifier qualifier, Timeout timeout,
                             std::span<const std::byte> private_data) {
    const RsmTransport &its = transport_of(ep_.ia());
    if (node == NO_NODE || (node != its.device->node() && its.options.controller == "loopback")) {
        ep_.fail(EventKind::UNREACHABLE);
        return Status::OK;
    }
    std::unique_ptr<Link> base = std::make_unique<RsmLink>();
    const UnusedLink unused(engine(), base);
    auto &fresh = own<RsmLink>(*base);
    // The link owns the channel from the start: if memory runs out both end without the lock.
    const auto owner = std::make_shared<std::unique_ptr<Channel>>();
    fresh.channel = {owner, nullptr};
    const int status =
        Channel::create(*its.device, its.options.controller, node, its.options.ring, *owner);
    fresh.channel = {owner, owner->get()};
    if (status != RSM_SUCCESS)
        return status == RSMERR_INSUFFICIENT_MEM ? Status::NO_MEMORY : Status::NO_CONNECTIONS;
    fresh.active = true;
    fresh.local_port = new_port();
    fresh.qualifier = qualifier;
    fresh.remote = remote;
    fresh.remote_node = node;
    write_terms(fresh.channel->ours().offer, fresh,
                static_cast<std::uint32_t>(ep_.attributes.max_rdma_read_in),
                static_cast<std::uint32_t>(ep_.attributes.max_rdma_read_out), private_data);
    ep_.prepare();
    start(base, timeout, EventKind::TIMED_OUT);
    try {
        call();
    } catch (...) {
        drop_link();
        throw;
    }
    ep_.state = EpState::ACTIVE_PENDING;
    return Status::OK;
}

// Write the terms before the state word that announces them to the requester.
Status RsmConnector::accept(std::unique_ptr<Link> &from, std::span<const std::byte> private_data) {
    start(from, COMPLETION, EventKind::ACCEPT_FAILED);
    link().max_rdma_read_out = lesser(link().max_rdma_read_out, ep_.attributes.max_rdma_read_out);
    link().max_rdma_read_in = lesser(link().max_rdma_read_in, ep_.attributes.max_rdma_read_in);
    write_terms(link().channel->peers().answer, link(), link().max_rdma_read_in,
                link().max_rdma_read_out, private_data);
    ep_.state = EpState::COMPLETION_PENDING;
    say_to_peer(*link().channel, LinkState::ACCEPTED);
    return Status::OK;
}

// Takes over a link; leaves it where it was if something throws. After `timeout` the attempt has
// failed with the event `late`.
void RsmConnector::start(std::unique_ptr<Link> &from, Timeout timeout, EventKind late) {
    ep_.link = std::move(from);
    Channel &channel = *link().channel;
    try {
        ep_.feed();
        link().watches_bell = true;
        engine().watch(channel.bell_fd(), EPOLLIN, *this);
        link().watches_peer = channel.attached();
        if (link().watches_peer)
            engine().watch(channel.peer_fd(), EPOLLRDHUP, *this);
        ep_.limit(timeout, late);
    } catch (...) {
        stop();
        from = std::move(ep_.link);
        throw;
    }
}

void RsmConnector::stop() noexcept {
    ep_.unlimit();
    call_off();
    if (std::exchange(link().watches_bell, false))
        engine().forget(link().channel->bell_fd());
    if (std::exchange(link().watches_peer, false))
        engine().forget(link().channel->peer_fd());
    engine().gone(*link().channel);
    ep_.unfeed();
}

// The request is over. A helper closes its handle.
void RsmConnector::call_off() noexcept {
    engine().cancel(std::exchange(link().resend, 0));
    if (std::exchange(link().watches_listener, false))
        engine().forget(link().call->object->fd());
    if (link().call)
        engine().end_aside(std::move(link().call));
}

// The call of before, if there was one, has found no listener.
void RsmConnector::call() {
    auto fresh = std::make_unique<SharedJob<Call>>(
        std::make_shared<Call>(link().channel->address(), link().qualifier));
    call_off();
    link().call = std::move(fresh);
    run([](Call &call, const RsmTransport &transport, std::uint32_t node) {
        return call.place(*transport.device, transport.options.controller, node);
    });
}

// Without the lock, because a node that does not answer blocks this thread. The Ep may be destroyed
// meanwhile.
void RsmConnector::run(CallFunction what) {
    engine().aside([&its = ep_.ia(), self = ep_.handle(), call = link().call->object, what,
                    node = link().remote_node] {
        const int status = what(*call, transport_of(its), node);
        const Guard guard(its.lock);
        Ep *ep = find<Ep>(self, its);
        if (ep != nullptr && ep->link && link_of(*ep).call && link_of(*ep).call->object == call)
            connector_of(*ep).called(status);
    });
}

void RsmConnector::called(int status) noexcept {
    if (status == RSMERR_SEG_NOT_PUBLISHED && link().unheard++ < GRACE)
        return look_up_later();
    if (status != RSM_SUCCESS)
        return unheard(status);
    try {
        if (link().call->object->needs_repetition())
            link().resend = engine().at(Engine::Clock::now() + RESEND, [this] { call_again(); });
        else
            watch_listener();
    } catch (const std::bad_alloc &) {
        ep_.fail(EventKind::NON_PEER_REJECTED);
    }
}

// A reserved service point may have taken the request and have been freed since.
void RsmConnector::look_up_later() noexcept {
    step();
    if (!ep_.link || !link().call)
        return;
    try {
        link().resend =
            engine().at(Engine::Clock::now() + GRACE_PAUSE, [this] { look_up_again(); });
    } catch (const std::bad_alloc &) {
        ep_.fail(EventKind::NON_PEER_REJECTED);
    }
}

void RsmConnector::look_up_again() noexcept {
    link().resend = 0;
    try {
        call();
    } catch (const std::bad_alloc &) {
        ep_.fail(EventKind::NON_PEER_REJECTED);
    }
}

void RsmConnector::watch_listener() {
    engine().watch(link().call->object->fd(), EPOLLRDHUP, *this);
    link().watches_listener = true;
}

// A reserved service point is freed as soon as it has taken the request.
void RsmConnector::unheard(int status) noexcept {
    step();
    if (ep_.link && link().call)
        ep_.fail(why_not(status));
}

// The request may have been answered already, and the service point have been freed since.
void RsmConnector::call_again() noexcept {
    link().resend = 0;
    step();
    if (!ep_.link || !link().call)
        return;
    try {
        run([](Call &call, const RsmTransport & /*transport*/, std::uint32_t /*node*/) {
            return call.repeat();
        });
    } catch (const std::bad_alloc &) {
        ep_.fail(EventKind::NON_PEER_REJECTED);
    }
}

void RsmConnector::set_up_active(LinkState said, bool gone) noexcept {
    const bool attached = !link().attaching && link().channel->attached();
    const bool asked = said == LinkState::ARRIVED || said == LinkState::ACCEPTED;
    if (said == LinkState::OFFERED)
        return;
    if (said == LinkState::REJECTED)
        ep_.fail(EventKind::PEER_REJECTED);
    else if (asked && !link().arrived)
        arrived();
    else if (said == LinkState::ACCEPTED && attached)
        accepted();
    else if (!asked || gone)
        ep_.fail(EventKind::NON_PEER_REJECTED);
}

// The listener has imported this side's segment and has written the address of its own.
void RsmConnector::arrived() noexcept {
    link().arrived = true;
    call_off();
    Credentials from{};
    std::memcpy(&from, &link().channel->ours().answer_from, sizeof from);
    link().attaching = true;
    try {
        attach(address_of(from));
    } catch (const std::bad_alloc &) {
        link().attaching = false;
        ep_.fail(EventKind::NON_PEER_REJECTED);
    }
}

void RsmConnector::attach(const SegmentAddress &peer) {
    engine().aside([&its = ep_.ia(), self = ep_.handle(), channel = link().channel, peer] {
        channel->close_door();
        const int status = channel->attach(peer);
        const Guard guard(its.lock);
        Ep *ep = find<Ep>(self, its);
        if (ep != nullptr && ep->link && link_of(*ep).channel == channel)
            connector_of(*ep).attached(status);
    });
}

// A listener that has rejected the request meanwhile has only written the state word.
void RsmConnector::attached(int status) noexcept {
    link().attaching = false;
    if (status != RSM_SUCCESS)
        return ep_.fail(said_by_peer(*link().channel) == LinkState::REJECTED
                            ? EventKind::PEER_REJECTED
                            : EventKind::NON_PEER_REJECTED);
    try {
        engine().watch(link().channel->peer_fd(), EPOLLRDHUP, *this);
        link().watches_peer = true;
    } catch (const std::bad_alloc &) {
        return ep_.fail(EventKind::NON_PEER_REJECTED);
    }
    step();
}

void RsmConnector::accepted() noexcept {
    Terms answer{};
    if (!read_terms(link().channel->ours().answer, answer))
        return ep_.fail(EventKind::NON_PEER_REJECTED);
    link().remote_port = answer.port;
    link().max_rdma_read_out = lesser(answer.max_rdma_read_in, ep_.attributes.max_rdma_read_out);
    link().max_rdma_read_in = lesser(answer.max_rdma_read_out, ep_.attributes.max_rdma_read_in);
    say_to_peer(*link().channel, LinkState::ESTABLISHED);
    establish(private_data_of(answer));
}

// A peer that ended the connection right after it was established has overwritten ESTABLISHED.
void RsmConnector::set_up_passive(LinkState said, bool gone) noexcept {
    const bool established =
        said == LinkState::ESTABLISHED || said == LinkState::CLOSED || said == LinkState::BROKEN;
    if (established && !link().closed_door && !link().channel->local())
        close_door();
    else if (established)
        establish({});
    else if (said != LinkState::OFFERED || gone)
        ep_.fail(EventKind::ACCEPT_FAILED);
}

// The connection is established when no other process can attach to this side's segment any more.
void RsmConnector::close_door() noexcept {
    if (std::exchange(link().closing_door, true))
        return;
    try {
        engine().aside([&its = ep_.ia(), self = ep_.handle(), channel = link().channel] {
            channel->close_door();
            const Guard guard(its.lock);
            Ep *ep = find<Ep>(self, its);
            if (ep == nullptr || !ep->link || link_of(*ep).channel != channel)
                return;
            link_of(*ep).closed_door = true;
            connector_of(*ep).step();
        });
    } catch (const std::bad_alloc &) {
        ep_.fail(EventKind::ACCEPT_FAILED);
    }
}

// Poll the rings only after the event is queued.
void RsmConnector::establish(std::span<const std::byte> private_data) noexcept {
    ep_.establish(private_data);
    transfer_of(ep_).connected(*link().channel);
}

namespace {

constexpr unsigned POLLS_PER_STEP = 256;

} // namespace

Engine &RsmConnector::engine() const noexcept {
    return *ep_.ia().engine;
}

void RsmConnector::ready(std::uint32_t events) noexcept {
    if (!ep_.link)
        return;
    if ((events & EPOLLIN) != 0)
        link().channel->take_bells();
    const bool hung_up = (events & (EPOLLRDHUP | EPOLLHUP)) != 0;
    if (hung_up && link().watches_peer) {
        engine().forget(link().channel->peer_fd());
        link().watches_peer = false;
    }
    if (hung_up && link().watches_listener)
        return unheard(RSMERR_SEG_NOT_PUBLISHED);
    step();
}

// A program that polls may keep the engine's thread from getting the lock, so check for the end of
// the peer here, too, but not on each poll: most find nothing.
void RsmConnector::poll(bool again) noexcept {
    if (!ep_.link)
        return;
    if (!ep_.transferring())
        return step();
    Channel &channel = *link().channel;
    if (again) {
        channel.recently_polled = true;
        if (channel.armed())
            disarm();
    }
    if (++polls_ % POLLS_PER_STEP == 0)
        return step();
    const LinkState said = said_by_peer(channel);
    if (said != expected() || transfer_of(ep_).has_work())
        carry_on(said, false);
}

void RsmConnector::disarm() noexcept {
    Channel &channel = *link().channel;
    channel.disarm();
    engine().disarmed(channel, *this);
}

// Carries out the requests of the peer.
bool RsmConnector::has_listeners() const noexcept {
    return true;
}

// Check first whether the peer is gone, then its state word, then its data: so data and state that
// it wrote before it went are found.
void RsmConnector::step() noexcept {
    const bool attached = !link().attaching && link().channel->attached();
    const bool gone = attached && !link().channel->alive();
    const LinkState said = said_by_peer(*link().channel);
    if (ep_.state == EpState::ACTIVE_PENDING)
        set_up_active(said, gone);
    else if (ep_.state == EpState::COMPLETION_PENDING)
        set_up_passive(said, gone);
    if (ep_.transferring())
        carry_on(said, gone);
}

// Takes messages of the peer while the connection lasts.
LinkState RsmConnector::expected() const noexcept {
    return link().active ? LinkState::ACCEPTED : LinkState::ESTABLISHED;
}

void RsmConnector::carry_on(LinkState said, bool gone) noexcept {
    transfer_of(ep_).progress();
    if (!ep_.transferring())
        return;
    if (said == LinkState::CLOSED)
        ep_.end(EventKind::DISCONNECTED, Ending::CLOSED);
    else if (said != expected() || gone)
        ep_.end(EventKind::BROKEN, Ending::BROKEN);
}

void RsmConnector::notify_peer(LinkState what) const noexcept {
    if (!link().attaching && link().channel->attached())
        say_to_peer(*link().channel, what);
}

void RsmConnector::drop_link() noexcept {
    stop();
    end_link(engine(), std::move(ep_.link));
}

void RsmConnector::hang_up(Ending ending) noexcept {
    notify_peer(ending == Ending::CLOSED ? LinkState::CLOSED : LinkState::BROKEN);
    drop_link();
}

void RsmConnector::give_up() noexcept {
    notify_peer(link().active ? LinkState::REFUSED : LinkState::CLOSED);
    drop_link();
}

} // namespace rsmengine
