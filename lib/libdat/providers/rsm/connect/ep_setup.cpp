// SPDX-License-Identifier: MIT
// An endpoint's way from UNCONNECTED to CONNECTED, or to DISCONNECTED when that fails.
#include "connect/ep.h"

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

DAT_EVENT_NUMBER why_not(int status) noexcept {
    const bool nowhere =
        status == RSMERR_REMOTE_NODE_UNREACHABLE || status == RSMERR_CTLR_NOT_PRESENT;
    return nowhere ? DAT_CONNECTION_EVENT_UNREACHABLE : DAT_CONNECTION_EVENT_NON_PEER_REJECTED;
}

std::uint32_t lesser(std::uint32_t theirs, DAT_COUNT ours) noexcept {
    return std::min(theirs, static_cast<std::uint32_t>(ours));
}

} // namespace

DAT_RETURN Ep::connect(const sockaddr_storage &remote, std::uint32_t node, DAT_CONN_QUAL qualifier,
                       DAT_TIMEOUT timeout, std::span<const std::byte> private_data) {
    const Ia &its = ia();
    if (node == NO_NODE || (node != its.device->node() && its.options.controller == "loopback")) {
        fail(DAT_CONNECTION_EVENT_UNREACHABLE);
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
                static_cast<std::uint32_t>(attributes.max_rdma_read_in),
                static_cast<std::uint32_t>(attributes.max_rdma_read_out), private_data);
    established_data.reserve(limits::PRIVATE_DATA);
    start(fresh, timeout, DAT_CONNECTION_EVENT_TIMED_OUT);
    try {
        call();
    } catch (...) {
        drop_link();
        throw;
    }
    state = DAT_EP_STATE_ACTIVE_CONNECTION_PENDING;
    return DAT_SUCCESS;
}

// Terms go to the requester before it is told that they are there.
void Ep::accept(std::unique_ptr<Link> &from, std::span<const std::byte> private_data) {
    start(from, COMPLETION, DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR);
    link->max_rdma_read_out = lesser(link->max_rdma_read_out, attributes.max_rdma_read_out);
    link->max_rdma_read_in = lesser(link->max_rdma_read_in, attributes.max_rdma_read_in);
    write_terms(link->channel->peers().answer, *link, link->max_rdma_read_in,
                link->max_rdma_read_out, private_data);
    state = DAT_EP_STATE_COMPLETION_PENDING;
    say_to_peer(*link->channel, LinkState::ACCEPTED);
}

// Takes over a link; leaves it where it was if something throws. After `timeout` the attempt has
// failed with the event `late`.
void Ep::start(std::unique_ptr<Link> &from, DAT_TIMEOUT timeout, DAT_EVENT_NUMBER late) {
    link = std::move(from);
    Channel &channel = *link->channel;
    try {
        feed();
        link->watches_bell = true;
        engine().watch(channel.bell_fd(), EPOLLIN, *this);
        link->watches_peer = channel.attached();
        if (link->watches_peer)
            engine().watch(channel.peer_fd(), EPOLLRDHUP, *this);
        if (timeout != DAT_TIMEOUT_INFINITE)
            link->timeout = engine().at(Engine::Clock::now() + std::chrono::microseconds(timeout),
                                        [this, late] { fail(late); });
    } catch (...) {
        stop();
        from = std::move(link);
        throw;
    }
}

void Ep::stop() noexcept {
    engine().cancel(std::exchange(link->timeout, 0));
    engine().cancel(std::exchange(link->resend, 0));
    if (std::exchange(link->watches_bell, false))
        engine().forget(link->channel->bell_fd());
    if (std::exchange(link->watches_peer, false))
        engine().forget(link->channel->peer_fd());
    engine().gone(*link->channel);
    unfeed();
}

// Without the lock: a node that does not answer may hold us up. The Ep may be gone afterwards.
void Ep::call() {
    link->call = std::make_shared<Call>(link->channel->address(), link->qualifier);
    engine().later([&its = ia(), self = handle(), call = link->call, node = link->remote_node] {
        const int status = call->place(*its.device, its.options.controller, node);
        const Guard guard(its.lock);
        Ep *ep = find<Ep>(self, its);
        if (ep != nullptr && ep->link && ep->link->call == call)
            ep->called(status);
    });
}

void Ep::called(int status) noexcept {
    if (status == RSM_SUCCESS)
        call_again_soon();
    else
        fail(why_not(status));
}

void Ep::call_again_soon() noexcept {
    try {
        link->resend = engine().at(Engine::Clock::now() + RESEND, [this] { call_again(); });
    } catch (const std::bad_alloc &) {
        fail(DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
    }
}

// It may have been answered already, and the service point be gone since.
void Ep::call_again() noexcept {
    link->resend = 0;
    step();
    if (link && link->call)
        called(link->call->repeat());
}

void Ep::set_up_active(LinkState said, bool gone) noexcept {
    const bool attached = !link->attaching && link->channel->attached();
    const bool asked = said == LinkState::ARRIVED || said == LinkState::ACCEPTED;
    if (said == LinkState::OFFERED)
        return;
    if (said == LinkState::REJECTED)
        fail(DAT_CONNECTION_EVENT_PEER_REJECTED);
    else if (asked && !link->arrived)
        arrived();
    else if (said == LinkState::ACCEPTED && attached)
        accepted();
    else if (!asked || gone)
        fail(DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
}

// The listener has imported our segment and tells where its own is.
void Ep::arrived() noexcept {
    link->arrived = true;
    engine().cancel(std::exchange(link->resend, 0));
    link->call.reset();
    link->channel->close_door();
    Credentials from{};
    std::memcpy(&from, &link->channel->ours().answer_from, sizeof from);
    link->attaching = true;
    try {
        attach(address_of(from));
    } catch (const std::bad_alloc &) {
        link->attaching = false;
        fail(DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
    }
}

void Ep::attach(const SegmentAddress &peer) {
    engine().later([&its = ia(), self = handle(), channel = link->channel, peer] {
        const int status = channel->attach(peer);
        const Guard guard(its.lock);
        Ep *ep = find<Ep>(self, its);
        if (ep != nullptr && ep->link && ep->link->channel == channel)
            ep->attached(status);
    });
}

void Ep::attached(int status) noexcept {
    link->attaching = false;
    if (status != RSM_SUCCESS)
        return fail(DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
    try {
        engine().watch(link->channel->peer_fd(), EPOLLRDHUP, *this);
        link->watches_peer = true;
    } catch (const std::bad_alloc &) {
        return fail(DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
    }
    step();
}

void Ep::accepted() noexcept {
    Terms answer{};
    if (!read_terms(link->channel->ours().answer, answer))
        return fail(DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
    link->remote_port = answer.port;
    link->max_rdma_read_out = lesser(answer.max_rdma_read_in, attributes.max_rdma_read_out);
    link->max_rdma_read_in = lesser(answer.max_rdma_read_out, attributes.max_rdma_read_in);
    say_to_peer(*link->channel, LinkState::ESTABLISHED);
    establish(private_data_of(answer));
}

// A peer that ended it right after it was established has overwritten that.
void Ep::set_up_passive(LinkState said, bool gone) noexcept {
    const bool established =
        said == LinkState::ESTABLISHED || said == LinkState::CLOSED || said == LinkState::BROKEN;
    if (established) {
        link->channel->close_door();
        establish({});
    } else if (said != LinkState::OFFERED || gone) {
        fail(DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR);
    }
}

// There is room for the data since connect(). The rings are looked at after this event is posted.
void Ep::establish(std::span<const std::byte> private_data) noexcept {
    engine().cancel(std::exchange(link->timeout, 0));
    state = DAT_EP_STATE_CONNECTED;
    established_data.assign(private_data.begin(), private_data.end());
    Arrival arrival;
    arrival.owner = handle();
    arrival.event.event_number = DAT_CONNECTION_EVENT_ESTABLISHED;
    auto &event = arrival.event.event_data.connect_event_data;
    event.ep_handle = handle();
    event.private_data_size = static_cast<DAT_COUNT>(established_data.size());
    event.private_data = established_data.empty() ? nullptr : established_data.data();
    if (connect_evd != nullptr)
        connect_evd->deliver(arrival);
    transfer.connected(*link->channel);
}

// Also for an attempt that ended before there was a link.
void Ep::fail(DAT_EVENT_NUMBER event) noexcept {
    state = DAT_EP_STATE_DISCONNECTED;
    if (link) {
        tell_peer(link->active ? LinkState::REFUSED : LinkState::CLOSED);
        drop_link();
    }
    transfer.flush();
    report(event);
}

} // namespace rsmdat
