// SPDX-License-Identifier: GPL-2.0
// Nodes come, stand still, go and die.
#include "world.hpp"

#include <algorithm>
#include <utility>

namespace sim {

extern rsm_link_ops with_keys;
extern rsm_link_ops without_keys;

namespace {

World *running;

const rsm_controller_ops controller_ops = {};

// A segment's node makes keys to new memory for one importing node after the other. The bound of each call has the
// time for three of them.
Time move_time(const Scenario &scenario)
{
    return scenario.nodes > 4 ? (scenario.nodes - 4) * scenario.key_time : 0;
}

} // namespace

World &World::now_running()
{
    return *running;
}

World::World(Runtime &runtime, const Scenario &scenario) : runtime_(runtime), scenario_(scenario)
{
    running = this;
    longest_ = *std::max_element(scenario.heartbeats.begin(), scenario.heartbeats.end());
    if (std::any_of(scenario.actions.begin(), scenario.actions.end(),
                    [](const Action &action) { return action.kind == Kind::lie; }))
        longest_ *= RSM_INTERVAL_FACTOR;
    with_keys.place_ms = static_cast<unsigned int>(place_time() / ms);
    INIT_LIST_HEAD(&rsm_links);
    rsm_agent_lock.lock.held = false;
    rsm_remote_importer_serial.counter = 0;
    for (std::uint32_t i = 0; i < scenario.nodes; i++) {
        auto &node = *nodes_.emplace_back(std::make_unique<Node>());
        node.id = i + 1;
        node.heartbeat_ms = scenario.heartbeats[i];
    }
    runtime_.after_step = [this](Owner *owner) { check_step(owner); };
}

World::~World()
{
    for (const auto &node : nodes_)
        if (node->alive)
            die(*node);
    running = nullptr;
}

// The node has no links yet.
void World::boot(Node &node)
{
    node.alive = true;
    node.ctl = {};
    node.ctl.ops = &controller_ops;
    node.peers.clear();
    for (const auto &other : nodes_) {
        const bool is_far = scenario_.star && node.id != 1 && other->id != 1;
        if (other.get() == &node || is_far) {
            node.peers.emplace_back();
            continue;
        }
        auto &peer = *node.peers.emplace_back(std::make_unique<Peer>());
        peer.node = &node;
        peer.other = other.get();
        rsm_link_init(&peer.link, &node.ctl, scenario_.keys ? &with_keys : &without_keys);
        if (scenario_.keys)
            rsm_reconnect_init(&peer.reconnect, runtime_.jiffies(), node.id < other->id);
        else
            peer.channel = queues(node, *other);
    }
}

std::uint64_t World::messages() const
{
    std::uint64_t sum = 0;
    for (const auto &node : nodes_)
        sum += node->sent;
    return sum;
}

void World::join(Node &node)
{
    node.joined = true;
    if (scenario_.keys)
        begin_network(node);
    else
        join_window(node);
}

void World::wake_work(Node &node, Work &work, Time when, const Body &body)
{
    const std::uint64_t number = work.queued = ++last_;
    runtime_.at(when + runtime_.random.below(30 + node.lag), &node, [this, &node, &work, number, body] {
        if (work.queued != number)
            return;
        work.queued = 0;
        work.again = work.running;
        if (!work.running)
            run_work(node, work, body);
    });
}

void World::run_work(Node &node, Work &work, const Body &body)
{
    work.running = true;
    runtime_.spawn(&node, [this, &node, &work, body] {
        body();
        work.running = false;
        if (std::exchange(work.again, false))
            wake_work(node, work, runtime_.time(), body);
    }, PF_KTHREAD);
}

// All that the node is made of is gone at once, and its agent says nothing about it.
void World::die(Node &node)
{
    note_death(node);
    for (const auto &peer : node.peers) {
        if (!peer)
            continue;
        list_del(&peer->link.entry);
        if (scenario_.keys && peer->channel && peer->other->alive && runtime_.random.one_in(2))
            fail_later(this->peer(*peer->other, node), "connection lost", 10 * scenario_.delay);
    }
    if (node.stalled())
        node.stalls.back().to = runtime_.time();
    node.alive = false;
    node.joined = false;
    node.busy = false;
    node.mute = false;
    node.lag = 0;
    runtime_.die(node);
    std::erase_if(calls_, [&](const Call &call) { return call.node == &node; });
    std::erase_if(keys_, [&](const auto &entry) { return entry.second.exporter == &node; });
    std::erase_if(memories_, [&](const auto &entry) { return entry.second->node == &node; });
    for (Export *segment : node.all_exports)
        delete segment;
    for (Import *import : node.all_imports)
        delete import;
    node.all_exports.clear();
    node.all_imports.clear();
    node.published.clear();
    node.exports = {};
    node.imports = {};
    node.peers.clear();
}

// The end of a node that has left: nothing hangs on its links.
void World::exit_links(Node &node)
{
    for (const auto &peer : node.peers)
        if (peer)
            rsm_link_exit(&peer->link);
    node.peers.clear();
    node.alive = false;
}

// In a task. The users' handles stay, and find that their connections are gone.
void World::leave(Node &node)
{
    node.joined = false;
    if (scenario_.keys)
        leave_network(node);
    else
        leave_window(node);
    for (const auto &peer : node.peers)
        if (peer)
            rsm_link_stop(&peer->link, "leaving");
}

void World::trouble(Node &node, Time how_long)
{
    // Until others have noticed the end of it.
    node.troubles.push_back({runtime_.time(), runtime_.time() + how_long});
}

// A node that stands still already does so until the later end: when all stand still, none is left
// out.
void World::stall(Node &node, Time how_long)
{
    if (!node.alive)
        return;
    const Time end = runtime_.time() + how_long;
    if (node.stalled())
        node.stalls.back().to = std::max(node.stalls.back().to, end);
    else
        node.stalls.push_back({runtime_.time(), end});
    runtime_.stall(node);
    runtime_.at(end, nullptr, [this, &node, life = node.life()] {
        if (node.life() == life && node.stalled() && runtime_.time() >= node.stalls.back().to)
            runtime_.resume(node);
    });
}

// The node's works come late for two such times, and the last of them within a third one.
void World::slow_down(Node &node, Time lag)
{
    node.lag = lag;
    node.slow_for = std::max(3 * lag, is_slow(node) ? node.slow_for : 0);
    node.slow_since = runtime_.time();
}

void World::act(const Action &action)
{
    Node &node = *nodes_[action.node];
    Node &other = *nodes_[action.other % nodes_.size()];
    const auto later = [this](Time time, Node &who, const std::function<void()> &what) {
        runtime_.at(runtime_.time() + time, nullptr, [life = who.life(), &who, what] {
            if (who.life() == life)
                what();
        });
    };
    if (!node.alive)
        return;
    switch (action.kind) {
    case Kind::stall:
        trouble(node, action.time);
        stall(node, action.time);
        break;
    case Kind::stall_all:
        for (const auto &each : nodes_)
            stall(*each, action.time + runtime_.random.below(3 * ms));
        break;
    case Kind::die:
        trouble(node, action.time);
        die(node);
        deaths_++;
        runtime_.at(runtime_.time() + action.time, &node, [this, &node] {
            boot(node);
            join(node);
        });
        break;
    case Kind::leave:
        if (node.busy)
            break;
        node.busy = true;
        trouble(node, 4 * action.time);
        runtime_.spawn(&node, [this, &node, time = action.time] {
            leave(node);
            runtime_.sleep(time);
            join(node);
            node.busy = false;
        });
        break;
    case Kind::cut:
        if (scenario_.keys)
            cut(action.value | 1, action.time);
        break;
    case Kind::break_connection:
        if (!scenario_.keys)
            scribble(action);
        else if (&node != &other && other.alive && peer(node, other).channel) {
            fail_later(peer(node, other), "connection lost", scenario_.delay);
            fail_later(peer(other, node), "connection lost", scenario_.delay);
        }
        break;
    case Kind::mute:
        trouble(node, 3 * action.time);
        node.mute = true;
        later(3 * action.time, node, [&node] { node.mute = false; });
        break;
    case Kind::slow:
        trouble(node, 2 * action.time);
        slow_down(node, action.time);
        later(2 * action.time, node, [&node] { node.lag = 0; });
        break;
    case Kind::lie:
        node.exaggeration = 1 + action.value % 8;
        break;
    case Kind::kill:
        for (const Call &call : calls_)
            if (call.node == &node && call.name != "close") {
                runtime_.kill_task(call.task);
                break;
            }
        break;
    default:
        act_user(action);
    }
}

// A segment that is there, on another node than this one.
Export *World::pick(u32 value, const Node *not_of) const
{
    std::vector<Export *> candidates;
    for (const auto &node : nodes_)
        for (Export *segment : node->exports)
            if (segment && node.get() != not_of)
                candidates.push_back(segment);
    return candidates.empty() ? nullptr : candidates[value % candidates.size()];
}

// The action of a user happens on the user's node, while that runs.
void World::act_user(const Action &action)
{
    const bool of_segment = action.kind != Kind::publish && action.kind != Kind::connect &&
                            action.kind != Kind::close && action.kind != Kind::use;
    Export *const segment = of_segment ? pick(action.slot + 8 * action.other, nullptr) : nullptr;
    if (of_segment && !segment)
        return;
    Node &node = segment ? *segment->node : *nodes_[action.node];
    if (!node.alive || node.stalled())
        return;
    runtime_.at(runtime_.time(), &node, [this, &node, &action, segment] {
        if (!segment)
            act_node(node, action);
        else if (node.all_exports.contains(segment))
            act_export(*segment, action);
    });
}

void World::act_node(Node &node, const Action &action)
{
    if (action.kind == Kind::publish)
        publish(node, action);
    else if (action.kind == Kind::connect)
        connect_user(node, action);
    else
        use(node, action);
}

void World::act_export(Export &segment, const Action &action)
{
    switch (action.kind) {
    case Kind::republish:
        with_export(segment, "republish", 9 * patience() + move_time(scenario_),
                    [this, &action](Export &e) { republish(e, action.value); });
        break;
    case Kind::rebind:
        with_export(segment, "rebind", 8 * patience() + move_time(scenario_),
                    [this](Export &e) { rebind(e); });
        break;
    case Kind::unpublish:
        with_export(segment, "unpublish", 3 * patience(), [this](Export &e) { unpublish(e); });
        break;
    case Kind::destroy:
        with_export(segment, "destroy", 3 * patience(), [this](Export &e) { destroy(e); });
        break;
    default:
        with_export(segment, "post to importers", 2 * patience(), [](Export &e) {
            if (e.exp.open)
                rsm_agent_post_importers(&e.exp, 0);
        });
    }
}

} // namespace sim
