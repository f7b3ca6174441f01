// SPDX-License-Identifier: GPL-2.0
// Invariants: some hold after each step, others in the end.
#include "world.hpp"

#include <algorithm>
#include <string_view>

namespace sim {

namespace {

std::string name(const Node &node)
{
    return "node " + std::to_string(node.id);
}

// For what nodes do besides.
constexpr Time notice_slack = 100 * ms;

Time overlap(const Period &a, const Period &b)
{
    const Time from = std::max(a.from, b.from);
    const Time to = std::min(a.to, b.to);
    return to > from ? to - from : 0;
}

bool is_active(const Peer &peer)
{
    return READ_ONCE(peer.link.machine.state) == RSM_LINK_ACTIVE;
}

// Both ends know each other, and not a former life.
bool are_joined(const Peer &a, const Peer &b)
{
    return is_active(a) && is_active(b) && a.link.machine.peer == b.link.machine.incarnation &&
           b.link.machine.peer == a.link.machine.incarnation;
}

} // namespace

// No two live incarnations: a link is active to the one at the other end of its connection only.
void World::check_step(Owner *owner)
{
    // With many nodes a look at each step would cost more than the steps.
    if (!owner || runtime_.steps % (nodes_.size() / 4 + 1))
        return;
    for (const auto &peer : static_cast<Node *>(owner)->peers) {
        if (!peer || !is_active(*peer) || !peer->channel)
            continue;
        if (!scenario_.keys && peer->link.machine.peer == peer->started)
            continue;
        const auto &incarnation = peer->channel->incarnation;
        if (peer->link.machine.peer != incarnation[1 - peer->end()] ||
            peer->link.machine.incarnation != incarnation[peer->end()])
            runtime_.fault(name(*peer->node) + " takes another incarnation of " + name(*peer->other) +
                           " for the one that lives");
    }
}

// A node looks at the slots twice in an interval, unless it stands still, is slow or leaves.
void World::check_former_life(Peer &peer, Time since_last)
{
    const Node &node = *peer.node;
    const bool excused = node.stalled() || is_slow(node) || node.membership.leaving;
    const bool stale = is_active(peer) &&
                       peer.link.machine.peer != window_.slots[index(*peer.other)].incarnation;
    peer.stale = stale && !excused ? peer.stale + since_last : 0;
    if (peer.stale > node.heartbeat_ms * ms + 2 * since_last)
        runtime_.fault(name(node) + " goes on with a former life of " + name(*peer.other));
}

void World::check_former_lives(Time since_last)
{
    for (const auto &node : nodes_)
        for (const auto &peer : node->peers)
            if (peer)
                check_former_life(*peer, since_last);
}

// No import outlives the life of its export: nobody reaches this memory any more.
void World::check_unreached(std::uint64_t memory, const Node &exporter, const char *when)
{
    for (const auto &[number, key] : keys_)
        if (key.memory == memory)
            runtime_.fault(std::string(when) + ", and " + name(*key.importer) +
                           " has a key to memory of " + name(exporter));
    if (scenario_.keys)
        return;
    for (const auto &[mem, other] : memories_) {
        if (other->place != memory)
            continue;
        const Peer &there = peer(*other->node, exporter);
        const Peer &here = *exporter.peers[index(*other->node)];
        if (are_joined(there, here))
            runtime_.fault(std::string(when) + ", and " + name(*other->node) + " reaches memory of " +
                           name(exporter));
    }
}

// The time from which on the node has run for so long; the time for which it stood still does not count.
Time World::run_since(const Node &node, Time time) const
{
    Time from = runtime_.time();
    for (auto stall = node.stalls.rbegin(); stall != node.stalls.rend(); ++stall) {
        const Time ran = from - std::min(stall->to, from);
        if (ran >= time)
            break;
        time -= ran;
        from = stall->from;
    }
    return from > time ? from - time : 0;
}

// Do the node's works come late, or did they until a moment ago? What waited while it stood still comes after that.
bool World::is_slow(const Node &node) const
{
    return node.slow_for && run_since(node, node.slow_for) <= node.slow_since;
}

// Has the node run for less than its interval while another one ran for two? Then the other one may take it for
// dead, or will: a look that comes late, because all stood still, gives it two intervals again.
bool World::is_as_good_as_dead(const Node &node, const Node &to) const
{
    const Time interval = node.heartbeat_ms * ms;
    return run_since(node, interval) < run_since(to, 2 * interval);
}

// Has one of the nodes done less than nodes do in that time, but for both standing still together?
bool World::was_troubled(const Node &a, const Node &b, const Period &time) const
{
    const auto touches = [&](const Period &period) { return overlap(period, time) > 0; };
    return std::any_of(a.troubles.begin(), a.troubles.end(), touches) ||
           std::any_of(b.troubles.begin(), b.troubles.end(), touches) ||
           std::any_of(cuts_.begin(), cuts_.end(), touches);
}

// Has the node greeted the other one with a wrong interval, over the link that it has now?
bool World::has_lied(const Node &node, const Node &to) const
{
    return node.alive && node.peers[index(to)]->lied;
}

// Has the node beaten as it ought to, and been heard, for so long?
bool World::has_beaten(const Node &node, Time time) const
{
    const Time since = runtime_.time() - std::min(time, runtime_.time());
    return !is_slow(node) && run_since(node, time) == since &&
           !was_troubled(node, node, {since, runtime_.time()});
}

// The arrival of the last message of a node that dies now.
Time World::heard_last(const Node &node, const Node &dead) const
{
    const Peer &to = *node.peers[index(dead)];
    return std::max(runtime_.time(), to.channel ? to.channel->to[to.end()].last : 0);
}

// Both went by their true intervals when the node died. In a star not all have links to each other.
void World::note_death(const Node &dead)
{
    std::erase_if(survivors_, [&](const Survivor &survivor) { return survivor.node == &dead; });
    for (const auto &node : nodes_) {
        if (scenario_.star || node.get() == &dead || !node->alive || !node->joined)
            continue;
        if (!are_joined(peer(*node, dead), *dead.peers[index(*node)]))
            continue;
        if (has_lied(*node, dead) || has_lied(dead, *node))
            continue;
        const Time beats = 2 * std::max(node->heartbeat_ms, dead.heartbeat_ms) * ms;
        if (has_beaten(dead, beats))
            survivors_.push_back({node.get(), &dead, runtime_.time(), heard_last(*node, dead), beats});
    }
}

// Beyond two heartbeats: messages of the dead node may still be on their way, and in a window one whose interrupt was
// lost is found by the next tick.
Time World::notice_bound(const Node &node) const
{
    const Time beat = node.heartbeat_ms * ms;
    const Time tick = scenario_.keys ? 0 : std::min<Time>(beat / 2, RSM_MEMBERSHIP_LOOK_MS * ms) + beat / 8;
    return scenario_.delay + tick + notice_slack;
}

// A node that stood still, left or was slow meanwhile says nothing of how soon nodes know; neither does one that
// learns otherwise than by silence: by the end of a connection, or since the dead node is back. The link has ended at
// its last look, and imports with it; until it is down keys may have to be awaited that are just being made.
void World::note_notice(const Peer &peer, const std::string &why)
{
    const auto found = std::find_if(survivors_.begin(), survivors_.end(), [&](const Survivor &survivor) {
        return survivor.node == peer.node && survivor.dead == peer.other;
    });
    if (found == survivors_.end())
        return;
    const Survivor survivor = *found;
    survivors_.erase(found);
    const Node &node = *survivor.node;
    if (!node.joined || is_slow(node) || was_troubled(node, node, {survivor.since, runtime_.time() + 1}) ||
        run_since(node, runtime_.time() - survivor.since) != survivor.since)
        return;
    const Time ended = runtime_.time() - (runtime_.jiffies() - peer.link.machine.silence.looked) * ms;
    const auto late = static_cast<std::int64_t>(ended - survivor.since - survivor.two_heartbeats);
    if (late > static_cast<std::int64_t>(notice_bound(node)))
        runtime_.fault(name(node) + " knows of the death of " + name(*survivor.dead) + " too late");
    if (why == "heartbeat lost")
        notices_.push_back({late, late - static_cast<std::int64_t>(survivor.heard - survivor.since)});
}

// A node is given up only if it has been at fault, or if nobody can know better.
void World::is_down(const Peer &peer, const std::string &why)
{
    runtime_.log(name(*peer.node) + ": " + name(*peer.other) + " is down: " + why);
    note_notice(peer, why);
    constexpr std::array verdicts = {"heartbeat lost", "does not answer", "takes no messages",
                                     "answers too slowly"};
    if (std::find(verdicts.begin(), verdicts.end(), why) == verdicts.end())
        return;
    // The other node has ended the connection, for a reason of its own, and the news of it is on its way.
    if (scenario_.keys && peer.channel && !peer.channel->open)
        return;
    // A lie has its effect for as long as the link lives: a node that was told of a long interval
    // sends its heartbeats as rarely.
    if (has_lied(*peer.node, *peer.other) || has_lied(*peer.other, *peer.node))
        return;
    const Time memory = 10 * patience() + 4 * scenario_.key_time;
    if (!was_troubled(*peer.node, *peer.other, {run_since(*peer.node, memory), runtime_.time() + 1}))
        runtime_.fault(name(*peer.node) + " gives up " + name(*peer.other) +
                       ", which has done nothing wrong: " + why);
}

bool World::fit(const Node &a, const Node &b) const
{
    return rsm_intervals_fit(a.heartbeat_ms, b.heartbeat_ms);
}

// Has the tasks run to their ends.
void World::await(const std::vector<std::uint64_t> &tasks)
{
    const Time end = runtime_.time() + 30 * patience() + place_time() + 10 * second;
    for (const std::uint64_t task : tasks)
        while (runtime_.task_lives(task) && !runtime_.found()) {
            settle(ms);
            if (runtime_.time() > end)
                runtime_.fault("a call at the end does not end");
        }
}

void World::ask(const std::function<void()> &body, Node &node)
{
    await({runtime_.spawn(&node, body)});
}

bool World::are_connected()
{
    for (const auto &a : nodes_)
        for (const auto &b : nodes_)
            if (a != b && fit(*a, *b) && !are_joined(peer(*a, *b), peer(*b, *a)))
                return false;
    return true;
}

void World::check_links()
{
    for (const auto &a : nodes_)
        for (const auto &b : nodes_) {
            if (a == b || runtime_.found())
                continue;
            const bool joined = are_joined(peer(*a, *b), peer(*b, *a));
            if (joined != fit(*a, *b))
                runtime_.fault(name(*a) + " and " + name(*b) + " are " +
                               (joined ? "" : "not ") + "connected long after the network is whole");
        }
}

void World::check_connect(Node &node, Export &segment, u32 user)
{
    const auto *acl = segment.exp.acl;
    const int mode = rsm_acl_node_mode(acl ? acl->entry : nullptr, acl ? acl->count : 0, 0, node.id);
    u32 expected = RSM_SUCCESS;
    if (!fit(node, *segment.node))
        expected = RSMERR_REMOTE_NODE_UNREACHABLE;
    else if (mode < 0)
        expected = RSMERR_SEG_NOT_PUBLISHED_TO_NODE;
    else if (user && !(rsm_mode_allows(static_cast<unsigned int>(mode), false, false) & RSM_PERM_READ))
        expected = RSMERR_PERM_DENIED;
    Import *const import = &make_import(node);
    const u32 status = try_connect(*import, name_of(segment), user, RSM_PERM_READ);
    if (status != expected)
        runtime_.fault("a user " + std::to_string(user) + " of " + name(node) + " gets status " +
                       std::to_string(status) + " for a segment of " + name(*segment.node) +
                       ", not " + std::to_string(expected));
    if (status == RSM_SUCCESS)
        close(*import);
    else
        forget(node, *import);
}

// Everybody gets what the lists say, and reaches what can be reached.
void World::check_connects()
{
    std::vector<std::uint64_t> tasks;
    for (const auto &exporter : nodes_)
        for (Export *segment : exporter->exports)
            for (const auto &node : nodes_) {
                if (!segment || !segment->exp.open || node == exporter)
                    continue;
                for (const u32 user : {0U, 200U})
                    tasks.push_back(runtime_.spawn(node.get(), [this, segment, &node, user] {
                        check_connect(*node, *segment, user);
                    }));
            }
    await(tasks);
}

// A connection that lives reaches the memory that the segment has now, as far as its user may.
void World::check_imports()
{
    for (const auto &node : nodes_)
        for (const Import *import : node->imports) {
            if (!import || import->imp.aborted)
                continue;
            const rsm_import &imp = import->imp;
            const Node &exporter = *nodes_[imp.node - 1];
            const auto published = exporter.published.find(imp.id);
            if (published == exporter.published.end()) {
                runtime_.fault(name(*node) + " is connected to a segment that is not published");
                continue;
            }
            const std::uint64_t memory = memories_.at(published->second->exp.mem)->number;
            const std::uint64_t place = imp.mem ? memories_.at(imp.mem)->place : 0;
            const auto key = keys_.find(place);
            const bool reached = scenario_.keys ? key != keys_.end() && key->second.memory == memory :
                                                  place == memory;
            if (!reached)
                runtime_.fault("an import of " + name(*node) +
                               " reaches other memory than its segment has");
        }
}

void World::close_all()
{
    for (const auto &node : nodes_)
        for (Import *import : node->imports)
            if (import && !runtime_.found())
                ask([this, import] { close(*import); }, *node);
    for (const auto &node : nodes_)
        for (Export *segment : node->exports)
            if (segment && !runtime_.found())
                ask([this, segment] { destroy(*segment); }, *node);
    settle(4 * scenario_.key_time + patience());
}

void World::check_leaks()
{
    for (const auto &node : nodes_)
        for (const auto &peer : node->peers) {
            if (!peer)
                continue;
            if (atomic_read(&peer->link.remote_count) || atomic_read(&peer->link.importer_count))
                runtime_.fault(name(*node) + " has a segment or an importer left");
            if (peer->link.requests.free + peer->link.connects.free != RSM_LINK_REQUESTS)
                runtime_.fault(name(*node) + " has lost a request");
        }
    if (!keys_.empty())
        runtime_.fault("a key is left");
    if (!memories_.empty())
        runtime_.fault("memory is left");
}

void World::part_all()
{
    for (const auto &node : nodes_) {
        trouble(*node, patience());
        ask([this, &node] { leave(*node); }, *node);
    }
    settle(patience());
    for (const auto &node : nodes_) {
        if (runtime_.found())
            return;
        ask([this, &node] { exit_links(*node); }, *node);
        if (!node->all_exports.empty() || !node->all_imports.empty() || node->allocations() || runtime_.tasks(*node) ||
            runtime_.timers(*node))
            runtime_.fault(name(*node) + " leaves something behind");
    }
}

void World::begin()
{
    for (const auto &node : nodes_)
        runtime_.at(0, node.get(), [this, &node] {
            boot(*node);
            join(*node);
        });
    runtime_.at(ms, nullptr, [this] { watch(); });
}

void World::run()
{
    begin();
    for (const Action &action : scenario_.actions)
        runtime_.at(action.at + 10 * scenario_.delay, nullptr, [this, &action] { act(action); });
    runtime_.run_until(scenario_.length + 10 * scenario_.delay);

    // All is whole again.
    heal();
    for (const auto &node : nodes_)
        node->exaggeration = 0;
    const auto is_busy = [](const auto &node) { return !node->alive || node->busy || node->stalled(); };
    settle(12 * longest_ * ms);
    while (!runtime_.found() &&
           (!calls_.empty() || std::any_of(nodes_.begin(), nodes_.end(), is_busy)))
        settle(100 * ms);
    settle(6 * patience() + 2 * scenario_.key_time + second);
    // In a network: a step of an attempt to connect, the longest pause, and another attempt.
    const Time end = runtime_.time() + 2 * 5 * second + 2 * RSM_RECONNECT_PAUSE_MAX * ms;
    while (scenario_.keys && !runtime_.found() && !are_connected() && runtime_.time() < end)
        settle(100 * ms);
    check_links();
    if (!runtime_.found())
        check_imports();
    if (!runtime_.found())
        check_connects();
    if (!runtime_.found())
        close_all();
    if (!runtime_.found())
        check_leaks();
    if (!runtime_.found())
        part_all();
}

} // namespace sim
