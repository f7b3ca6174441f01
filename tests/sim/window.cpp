// SPDX-License-Identifier: GPL-2.0
// Nodes that share a window, as guests over ivshmem do: this does what kernel/ivshmem/member.c does.
// Connections come of the node table. They do not break, and messages are not lost.
#include "world.hpp"

#include <algorithm>
#include <utility>

namespace sim {

namespace {

std::string name(const Node &node)
{
    return "node " + std::to_string(node.id);
}

} // namespace

template <class Do> void World::for_slots(Node &node, u64 slots, Do what)
{
    for (std::size_t slot = 0; slot < nodes_.size(); slot++)
        if (slots & BIT_ULL(slot))
            what(*node.peers[slot]);
}

// They stay when nodes die.
std::shared_ptr<Channel> World::queues(const Node &a, const Node &b)
{
    auto &queues = window_.queues[std::minmax(a.id, b.id)];
    if (!queues)
        queues = std::make_shared<Channel>();
    return queues;
}

bool World::is_member(const Node &node) const
{
    const u64 own = node.membership.machine.incarnation;
    return node.alive && own && window_.slots[index(node)].incarnation == own;
}

rsm_membership_output World::step(Node &node, const rsm_membership_input &input)
{
    return rsm_membership_step(&node.membership.machine, runtime_.jiffies(), &input);
}

void World::join_window(Node &node)
{
    node.membership = {};
    rsm_membership_init(&node.membership.machine, static_cast<u32>(nodes_.size()),
                        static_cast<u32>(index(node)), runtime_.jiffies());
    wake_tick(node, runtime_.time());
}

// In a task.
void World::leave_window(Node &node)
{
    node.membership.leaving = true;
    while (node.membership.tick.running)
        runtime_.sleep(ms);
    rsm_membership_input input{};
    input.event = RSM_MEMBERSHIP_LEAVE;
    const auto output = step(node, input);
    stop_links(node, output.stop, "leaving");
    node.membership.incarnation = 0;
    rsm_slot_view &slot = window_.slots[index(node)];
    if (output.expel && slot.incarnation == output.expel)
        slot.incarnation = 0;
}

// --- The tick

void World::wake_tick(Node &node, Time when)
{
    wake_work(node, node.membership.tick, when, [this, &node] { tick(node); });
}

void World::queue_tick(Node &node, Time when)
{
    if (!node.membership.tick.queued)
        wake_tick(node, when);
}

u64 World::slots_that_greet(const Node &node) const
{
    u64 slots = 0;
    for (const auto &peer : node.peers)
        if (peer && rsm_link_is_unanswered(&peer->link.machine))
            slots |= 1ULL << index(*peer->other);
    return slots;
}

void World::tick(Node &node)
{
    if (node.membership.leaving)
        return;
    // The kernel reads a slot after the other, and may be interrupted, but never so long that it matters.
    const auto view = window_.slots;
    rsm_membership_input input{};
    input.event = RSM_MEMBERSHIP_LOOK;
    input.node = node.id;
    input.heartbeat_ms = node.heartbeat_ms;
    input.fresh = (runtime_.random.next() & ~RSM_INCARNATION_SLOT) | index(node);
    input.view = view.data();
    input.greeting = slots_that_greet(node);
    const auto output = step(node, input);
    if (output.gave_up)
        give_up(node, output.stop);
    for_slots(node, output.clear, [&](Peer &peer) {
        expel(node, static_cast<u32>(index(*peer.other)), view[index(*peer.other)].incarnation);
    });
    if (output.joined)
        enter(node);
    if (output.keep)
        write_entry(node);
    stop_links(node, output.restarted, "restarted");
    stop_links(node, output.left, "left");
    stop_misread_links(node, output.misread);
    for_slots(node, output.ring, [&](Peer &peer) {
        if (peer.other->alive)
            wake_tick(*peer.other, runtime_.time() + delay());
    });
    for_slots(node, output.receive, [&](Peer &peer) { schedule_pump(peer, runtime_.time()); });
    for_slots(node, output.start, [&](Peer &peer) {
        peer.started = view[index(*peer.other)].incarnation;
        start_link(peer);
    });
    // Others want the processor now and again.
    if (runtime_.random.one_in(8))
        runtime_.sleep(runtime_.random.below(node.heartbeat_ms * ms / 8));
    if (output.sweep)
        sweep(node, output.grace);
    if (output.retry)
        wake_tick(node, runtime_.time() + RSM_MEMBERSHIP_RETRY_MS * ms);
    queue_tick(node, runtime_.time() + rsm_membership_period(node.heartbeat_ms) * ms);
}

// --- What a step wants

void World::write_entry(Node &node)
{
    rsm_slot_view &slot = window_.slots[index(node)];
    slot.node = node.id;
    slot.interval_ms = node.heartbeat_ms * std::max(node.exaggeration, 1U);
    slot.beat = runtime_.jiffies();
}

void World::enter(Node &node)
{
    for (const auto &peer : node.peers)
        if (peer)
            peer->channel->to[peer->end()].messages.clear();
    write_entry(node);
    node.membership.incarnation = node.membership.machine.incarnation;
    window_.slots[index(node)].incarnation = node.membership.incarnation;
    window_.owners.insert(node.membership.incarnation);
    runtime_.log(name(node) + " joins");
}

void World::give_up(Node &node, u64 running)
{
    runtime_.log(name(node) + " was taken for dead");
    node.membership.incarnation = 0;
    stop_links(node, running, "we were taken for dead");
}

void World::stop_links(Node &node, u64 slots, const char *why)
{
    for_slots(node, slots, [&](Peer &peer) { rsm_link_stop(&peer.link, why); });
}

// Virtual time passes between the look and the stop: a node that greets in that time keeps its link.
void World::stop_misread_links(Node &node, u64 slots)
{
    if (slots)
        runtime_.sleep(runtime_.random.below(2 * scenario_.delay));
    for_slots(node, slots, [&](Peer &peer) {
        rsm_membership_input input{};
        input.event = RSM_MEMBERSHIP_GREETED;
        input.slot = static_cast<u32>(index(*peer.other));
        if (!rsm_link_stop_greeting(&peer.link, "its slot had another node id"))
            step(node, input);
    });
}

void World::start_link(Peer &peer)
{
    const rsm_slot_view &slot = window_.slots[index(*peer.other)];
    const rsm_link_peer to = {
        .node = peer.node->membership.machine.member[index(*peer.other)].node,
        .hwaddr = index(*peer.other),
        .incarnation = peer.started,
        .own = peer.node->membership.incarnation,
        .interval_ms = rsm_slot_interval(&slot),
    };
    Direction &in = peer.channel->to[peer.end()];
    in.messages.clear();
    in.refused = false;
    peer.heard_beat = slot.beat;
    peer.running = true;
    if (rsm_link_start(&peer.link, &to))
        return;
    peer.running = false;
    rsm_membership_input input{};
    input.event = RSM_MEMBERSHIP_BUSY;
    input.slot = static_cast<u32>(index(*peer.other));
    if (step(*peer.node, input).retry)
        wake_tick(*peer.node, runtime_.time() + RSM_MEMBERSHIP_RETRY_MS * ms);
}

void World::link_is_down(Peer &peer)
{
    Node &node = *peer.node;
    rsm_membership_input input{};
    input.event = RSM_MEMBERSHIP_DOWN;
    input.slot = static_cast<u32>(index(*peer.other));
    input.own = window_.slots[index(node)].incarnation;
    peer.running = false;
    const auto output = step(node, input);
    if (output.expel)
        expel(node, input.slot, output.expel);
    wake_tick(node, runtime_.time());
}

bool World::stirs(Peer &peer)
{
    const u64 beat = window_.slots[index(*peer.other)].beat;
    const bool stirred = beat != peer.heard_beat;
    peer.heard_beat = beat;
    window_.slots[index(*peer.node)].beat = runtime_.jiffies();
    return stirred;
}

// A hostile guest writes to a slot.
void World::scribble(const Action &action)
{
    const Node &node = *nodes_[action.node];
    rsm_slot_view &slot = window_.slots[index(node)];
    for (const auto &each : nodes_)
        trouble(*each, 4 * longest_ * ms);
    switch (action.value % 4) {
    case 0:
        slot.incarnation = 0;
        break;
    case 1:
        slot.incarnation = (u64{action.value} << 8) | index(node);
        break;
    case node_id_in_slot:
        slot.node = action.other + 1;
        break;
    default:
        slot.interval_ms = action.value;
    }
}

// --- Invariants

// Only a node that has done less than nodes do loses its slot, and only to one that has its own.
void World::expel(Node &by, u32 index, u64 incarnation)
{
    rsm_slot_view &slot = window_.slots[index];
    if (slot.incarnation != incarnation)
        return;
    const Node &node = *nodes_[index];
    runtime_.log(name(by) + " expels " + name(node));
    if (node.membership.machine.incarnation == incarnation && is_member(node) && !is_member(by))
        runtime_.fault(name(by) + ", which is no member, expels " + name(node));
    slot.incarnation = 0;
}

// Does a process of the node reach chunks of that owner, for all that the node knows?
bool World::uses(const Node &node, u64 owner) const
{
    return std::any_of(node.peers.begin(), node.peers.end(), [&](const auto &peer) {
        return peer && READ_ONCE(peer->link.machine.state) != RSM_LINK_DOWN &&
               peer->link.machine.peer == owner;
    });
}

// A node that has lost its slot without knowing it may reach memory of others until it finds out. So may
// a node that has stood still for so long that it is about to lose the slot, and one whose timers run and
// whose works do not: it says that it lives, and does not end its links.
void World::check_released(const Node &by, u64 owner)
{
    for (const auto &node : nodes_) {
        if (node.get() == &by || !is_member(*node) || is_slow(*node) ||
            is_as_good_as_dead(*node, by))
            continue;
        if (node->membership.machine.incarnation == owner || uses(*node, owner))
            runtime_.fault("memory that " + name(*node) + " uses is given to others by " + name(by));
    }
}

void World::sweep(Node &node, unsigned long grace)
{
    const std::set<u64> before = std::exchange(node.membership.swept, window_.owners);
    const auto is_gone = [&](u64 owner) {
        const u64 found = window_.slots[owner & RSM_INCARNATION_SLOT].incarnation;
        if (owner == node.membership.machine.incarnation || uses(node, owner) ||
            !rsm_membership_is_gone(&node.membership.machine, grace, owner, found, before.contains(owner)))
            return false;
        check_released(node, owner);
        return true;
    };
    std::erase_if(window_.owners, is_gone);
}

} // namespace sim
