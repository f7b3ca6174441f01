// SPDX-License-Identifier: GPL-2.0
// Connections between nodes, unless they share a window (window.cpp): of two nodes the one with the lower id
// connects and the other accepts, when kernel/rdma/reconnect.c says so.
// Messages arrive whole, once and in order, at any time, or the connection breaks.
#include "world.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace sim {

int Peer::end() const
{
    return node->id < other->id ? 0 : 1;
}

bool World::is_cut(const Node &a, const Node &b) const
{
    return group_ && ((group_ >> index(a)) & 1) != ((group_ >> index(b)) & 1);
}

namespace {

bool is_swallowed(const Node &node, unsigned int type)
{
    return node.mute &&
           (type == RSM_MSG_DISCONNECT || type == RSM_MSG_MOVED || type == RSM_MSG_CONNECTED);
}

bool is_greeting(unsigned int type)
{
    return type == RSM_MSG_HELLO || type == RSM_MSG_WELCOME || type == RSM_MSG_HEARTBEAT;
}

} // namespace

int World::send(Peer &peer, const void *message, std::size_t length)
{
    const unsigned int type = static_cast<const rsm_msg_header *>(message)->type;
    peer.node->sent++;
    if (!peer.channel || !peer.channel->open)
        return -ENOTCONN;
    Direction &out = peer.channel->to[1 - peer.end()];
    if (is_swallowed(*peer.node, type))
        return 0;
    if (out.messages.size() >= scenario_.room)
        return -EAGAIN;
    Direction::Message &entry = out.messages.emplace_back();
    entry.length = length;
    std::memcpy(entry.data.data(), message, length);
    if (peer.node->exaggeration && is_greeting(type)) {
        reinterpret_cast<rsm_msg_hello *>(entry.data.data())->interval_ms *= peer.node->exaggeration;
        // The agent takes the interval from a greeting, not from a heartbeat.
        peer.lied |= peer.node->exaggeration > 1 && type != RSM_MSG_HEARTBEAT;
    }
    entry.arrives = out.last = std::max(out.last, runtime_.time() + delay());
    // An interrupt may be lost in a window.
    if (peer.other->alive && (scenario_.keys || !runtime_.random.one_in(16)))
        schedule_pump(this->peer(*peer.other, *peer.node), entry.arrives);
    return 0;
}

// As kernel/rdma/message.c does.
void World::note_activity(Peer &peer)
{
    if (scenario_.keys && rsm_reconnect_has_waited(&peer.reconnect) &&
        READ_ONCE(peer.link.machine.state) == RSM_LINK_ACTIVE)
        step(peer, RSM_RECONNECT_ACTIVE);
}

void World::schedule_pump(Peer &peer, Time when)
{
    runtime_.at(when, peer.node, [this, &peer] {
        if (peer.channel)
            pump(peer, peer.channel);
    });
}

// Delivers what has arrived.
void World::pump(Peer &peer, const std::shared_ptr<Channel> &channel)
{
    Direction &in = channel->to[peer.end()];
    if (!scenario_.keys && !peer.running) {
        wake_tick(*peer.node, runtime_.time());
        return;
    }
    while (channel->open && !in.refused && !in.messages.empty() &&
           in.messages.front().arrives <= runtime_.time() && !is_cut(*peer.node, *peer.other)) {
        Direction::Message &message = in.messages.front();
        const bool took = rsm_link_receive(&peer.link, message.data.data(), message.length);
        note_activity(peer);
        if (took)
            in.messages.pop_front();
        else
            in.refused = true;
    }
}

void World::take_again(Peer &peer)
{
    if (!peer.channel)
        return;
    peer.channel->to[peer.end()].refused = false;
    schedule_pump(peer, runtime_.time());
}

// Each node finds out by itself.
void World::fail_later(Peer &peer, const char *why, Time most)
{
    if (!peer.node->alive)
        return;
    runtime_.at(runtime_.time() + runtime_.random.below(most), peer.node,
                [&peer, channel = peer.channel, why] {
                    if (channel && peer.channel == channel)
                        rsm_link_fail(&peer.link, why);
                });
}

void World::down(Peer &peer)
{
    // The other node goes by the lie until it has heard of the end.
    if (std::exchange(peer.lied, false))
        trouble(*peer.node, patience());
    if (!scenario_.keys) {
        link_is_down(peer);
        return;
    }
    const auto channel = std::exchange(peer.channel, nullptr);
    const auto output = step(peer, RSM_RECONNECT_DOWN);
    close_channel(peer, channel);
    queue_look(peer, output);
}

bool World::reaches(const Peer &peer) const
{
    return peer.other->alive && !is_cut(*peer.node, *peer.other);
}

// The other node finds out later, if it has the connection.
void World::close_channel(Peer &peer, const std::shared_ptr<Channel> &channel)
{
    channel->open = false;
    if (reaches(peer) && this->peer(*peer.other, *peer.node).channel == channel)
        fail_later(this->peer(*peer.other, *peer.node), "connection lost", 5 * scenario_.delay);
}

void World::adopt(Peer &peer, const std::shared_ptr<Channel> &channel)
{
    const int end = peer.end();
    const rsm_link_peer to = {
        .node = peer.other->id,
        .hwaddr = peer.other->id,
        .incarnation = channel->incarnation[1 - end],
        .own = channel->incarnation[end],
        .interval_ms = 0,
    };
    peer.channel = channel;
    step(peer, RSM_RECONNECT_UP);
    if (!rsm_link_start(&peer.link, &to))
        runtime_.fault("a link that is down can't be started");
    if (!channel->open)
        rsm_link_fail(&peer.link, "connection lost");
    schedule_pump(peer, runtime_.time());
}

// --- Connecting, as kernel/rdma/node.c and connect.c do it

rsm_reconnect_output World::step(Peer &peer, rsm_reconnect_event event, const char *why)
{
    rsm_reconnect_input input{};
    input.event = event;
    input.random = static_cast<u32>(runtime_.random.next());
    input.requested = peer.incoming != nullptr;
    input.why = why;
    return rsm_reconnect_step(&peer.reconnect, runtime_.jiffies(), &input);
}

void World::begin_network(Node &node)
{
    for (const auto &peer : node.peers)
        if (peer)
            queue_look(*peer, step(*peer, RSM_RECONNECT_BEGIN));
}

// In a task.
void World::leave_network(Node &node)
{
    for (const auto &peer : node.peers) {
        if (!peer)
            continue;
        step(*peer, RSM_RECONNECT_LEAVE);
        while (peer->look.running)
            runtime_.sleep(ms);
        if (const auto channel = std::exchange(peer->incoming, nullptr))
            channel->open = false;
    }
}

void World::wake_look(Peer &peer, Time when)
{
    wake_work(*peer.node, peer.look, when, [this, &peer] { look_at(peer); });
}

void World::queue_look(Peer &peer, const rsm_reconnect_output &output)
{
    if (output.wake && (!output.delay || !peer.look.queued))
        wake_look(peer, output.delay ? runtime_.time_of(runtime_.jiffies() + output.delay) : runtime_.time());
}

void World::look_at(Peer &peer)
{
    const auto output = step(peer, RSM_RECONNECT_LOOK);
    if (output.action == RSM_RECONNECT_ACCEPT)
        accept(peer, std::exchange(peer.incoming, nullptr));
    else if (output.action == RSM_RECONNECT_CONNECT)
        connect(peer);
    queue_look(peer, output);
}

// A request reaches a node that runs and does not leave; without an answer the attempt fails.
void World::ask_other(Peer &peer, const std::shared_ptr<Channel> &channel)
{
    if (!reaches(peer))
        return;
    runtime_.at(runtime_.time() + delay(), peer.other, [this, &peer = this->peer(*peer.other, *peer.node), channel] {
        if (!peer.node->joined || peer.reconnect.leaving || peer.incoming) {
            channel->open = false;
            return;
        }
        peer.incoming = channel;
        wake_look(peer, runtime_.time());
    });
}

void World::tell_other(Peer &peer, const std::shared_ptr<Channel> &channel, bool Channel::*what)
{
    if (!reaches(peer))
        return;
    runtime_.at(runtime_.time() + delay(), peer.other, [channel, what] { (*channel).*what = true; });
}

// As long as a step of connecting may take.
bool World::wait_until(Peer &peer, const std::shared_ptr<Channel> &channel, bool Channel::*what)
{
    const Time end = runtime_.time() + 5 * second;
    while (!((*channel).*what) && channel->open && !peer.reconnect.leaving && runtime_.time() < end)
        runtime_.sleep(2 * ms + scenario_.delay);
    return (*channel).*what && channel->open;
}

void World::give_up(Peer &peer, const std::shared_ptr<Channel> &channel, const char *why)
{
    const auto output = step(peer, RSM_RECONNECT_FAILED, why);
    close_channel(peer, channel);
    queue_look(peer, output);
}

void World::connect(Peer &peer)
{
    auto channel = std::make_shared<Channel>();
    for (auto &incarnation : channel->incarnation)
        incarnation = runtime_.random.next() | 1;
    rsm_link_stop(&peer.link, "connected again");
    ask_other(peer, channel);
    if (!wait_until(peer, channel, &Channel::agreed)) {
        give_up(peer, channel, "no answer");
        return;
    }
    tell_other(peer, channel, &Channel::proven);
    adopt(peer, channel);
}

// The connection ends the one before once it is known who has connected.
void World::accept(Peer &peer, const std::shared_ptr<Channel> &channel)
{
    tell_other(peer, channel, &Channel::agreed);
    if (!wait_until(peer, channel, &Channel::proven)) {
        give_up(peer, channel, "no proof");
        return;
    }
    rsm_link_stop(&peer.link, "connected again");
    adopt(peer, channel);
}

// A network that is whole again goes on where it was, or it has lost connections.
void World::cut(std::uint64_t group, Time how_long)
{
    if (group_)
        return;
    group_ = group;
    cuts_.push_back({runtime_.time(), runtime_.time() + how_long});
    runtime_.at(runtime_.time() + how_long, nullptr, [this, group] {
        if (group_ == group)
            heal();
    });
    if (runtime_.random.one_in(2))
        return;
    for (const auto &a : nodes_)
        for (const auto &b : nodes_)
            if (a != b && a->alive && b->alive && is_cut(*a, *b))
                fail_later(peer(*a, *b), "connection lost", how_long);
}

void World::heal()
{
    group_ = 0;
    if (!cuts_.empty())
        cuts_.back().to = std::min(cuts_.back().to, runtime_.time());
    for (const auto &node : nodes_)
        for (const auto &peer : node->peers)
            if (node->alive && peer && peer->channel)
                schedule_pump(*peer, runtime_.time() + runtime_.random.below(scenario_.delay));
}

} // namespace sim

namespace {

sim::Peer &to_peer(rsm_link *link)
{
    return *container_of(link, sim::Peer, link);
}

sim::World &world()
{
    return sim::World::now_running();
}

} // namespace

extern "C" {

static int sim_send(rsm_link *link, const void *message, size_t len)
{
    return world().send(to_peer(link), message, len);
}

static void sim_resume(rsm_link *link)
{
    world().take_again(to_peer(link));
}

static void sim_down(rsm_link *link, u64)
{
    world().down(to_peer(link));
}

static bool sim_stirs(rsm_link *link)
{
    return world().stirs(to_peer(link));
}

static u32 sim_place(rsm_link *link, rsm_mem *mem, u32 rights, rsm_place *place, void **keys)
{
    return world().place(to_peer(link), mem, rights, *place, keys);
}

static void sim_leave(rsm_link *, void *keys)
{
    world().leave(reinterpret_cast<std::uintptr_t>(keys));
}

static u32 sim_attach(rsm_link *link, u64, const rsm_place *place, rsm_mem **mem)
{
    return world().attach(to_peer(link), *place, mem);
}

} // extern "C"

namespace sim {

// With keys, as over RDMA, and without, as in a window.
rsm_link_ops with_keys = {
    .send = sim_send,
    .resume = sim_resume,
    .down = sim_down,
    .place = sim_place,
    .place_ms = 30000,
    .leave = sim_leave,
    .attach = sim_attach,
    .detach = nullptr,
    .stirs = nullptr,
    .address = nullptr,
};

rsm_link_ops without_keys = {
    .send = sim_send,
    .resume = sim_resume,
    .down = sim_down,
    .place = sim_place,
    .place_ms = 0,
    .leave = nullptr,
    .attach = sim_attach,
    .detach = nullptr,
    .stirs = sim_stirs,
    .address = nullptr,
};

} // namespace sim
