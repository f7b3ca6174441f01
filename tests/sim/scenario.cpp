// SPDX-License-Identifier: GPL-2.0
#include "runtime.hpp"
#include "scenario.hpp"

#include <algorithm>
#include <array>

namespace sim {

namespace {

struct Weight {
    Kind kind;
    const char *name;
    unsigned int share; // of a thousand
};

constexpr std::array kinds = {
    Weight{Kind::publish, "publish", 130},
    Weight{Kind::republish, "republish", 110},
    Weight{Kind::rebind, "rebind", 60},
    Weight{Kind::unpublish, "unpublish", 50},
    Weight{Kind::destroy, "destroy", 40},
    Weight{Kind::connect, "connect", 300},
    Weight{Kind::close, "close", 80},
    Weight{Kind::use, "use", 60},
    Weight{Kind::post_importers, "post to importers", 30},
    Weight{Kind::kill, "kill a user", 20},
    Weight{Kind::stall, "stall", 25},
    Weight{Kind::stall_all, "stall all", 10},
    Weight{Kind::die, "die", 10},
    Weight{Kind::leave, "leave", 10},
    Weight{Kind::cut, "cut the network", 10},
    Weight{Kind::break_connection, "break a connection", 15},
    Weight{Kind::mute, "mute", 20},
    Weight{Kind::slow, "slow", 10},
    Weight{Kind::lie, "lie", 10},
};

Kind any_kind(Random &random)
{
    auto left = random.below(1000);
    for (const Weight &weight : kinds) {
        if (left < weight.share)
            return weight.kind;
        left -= weight.share;
    }
    return Kind::connect;
}

Action any_action(Random &random, const Scenario &scenario)
{
    Action action{};
    action.at = random.below(scenario.length);
    action.kind = any_kind(random);
    action.node = static_cast<std::uint32_t>(random.below(scenario.nodes));
    action.slot = static_cast<std::uint32_t>(random.below(6));
    action.other = static_cast<std::uint32_t>(random.below(scenario.nodes));
    action.value = static_cast<std::uint32_t>(random.next());
    const std::uint64_t beat = scenario.heartbeats[action.node] * ms;
    action.time = random.between(beat / 4, beat * 6);
    return action;
}

std::uint32_t any_size(Random &random)
{
    const auto size = random.below(100);
    if (size < 75)
        return static_cast<std::uint32_t>(random.between(2, 5));
    if (size < 99)
        return static_cast<std::uint32_t>(random.between(6, 16));
    return static_cast<std::uint32_t>(random.between(17, 64));
}

void draw_heartbeats(Scenario &scenario, Random &random)
{
    constexpr std::array beats = {50U, 100U, 200U, 1000U};
    const std::uint32_t common = beats[random.below(beats.size())];
    const bool differ = random.one_in(3);
    for (std::uint32_t i = 0; i < scenario.nodes; i++)
        scenario.heartbeats.push_back(
            differ ? static_cast<std::uint32_t>(common * random.between(1, 6)) : common);
}

// Beside what comes by chance, many nodes that import one segment, some of which fall silent just
// before its exporter wants it back.
void add_crowd(Scenario &scenario, Random &random)
{
    const std::uint64_t beat = *std::max_element(scenario.heartbeats.begin(), scenario.heartbeats.end()) * ms;
    const Time end = scenario.length / 2;
    const auto add = [&](Time at, Kind kind, std::uint32_t node, std::uint32_t value) {
        scenario.actions.push_back({at, kind, node, 0, 0, value, 3 * beat});
    };
    add(4 * beat, Kind::publish, 0, everybody);
    for (std::uint32_t node = 1; node < scenario.nodes; node++) {
        add(5 * beat + random.below(beat), Kind::connect, node, 0);
        if (random.one_in(2))
            add(end, Kind::mute, node, 0);
    }
    add(end + random.below(beat / 4), random.one_in(2) ? Kind::unpublish : Kind::destroy, 0, 0);
}

// All stand still for longer than the time of grace, just when some have noticed that a node is dead and
// others have not, and while an importing node is asked for something. The node comes back after that.
void add_freeze(Scenario &scenario, Random &random)
{
    const std::uint64_t beat = *std::max_element(scenario.heartbeats.begin(), scenario.heartbeats.end()) * ms;
    const Time freeze = (8 + random.below(8)) * beat;
    const auto add = [&](Time at, Kind kind, std::uint32_t node, Time time) {
        scenario.actions.push_back({at, kind, node, 0, 0, everybody, time});
    };
    add(3 * beat, Kind::publish, 0, beat);
    for (std::uint32_t node = 1; node < scenario.nodes; node++)
        add(4 * beat + random.below(beat), Kind::connect, node, beat);
    if (scenario.nodes > 2)
        add(freeze - 5 * beat / 2 + random.below(beat), Kind::die, scenario.nodes - 1, 12 * beat + 2 * second);
    add(freeze - random.below(2 * scenario.delay), random.one_in(2) ? Kind::rebind : Kind::unpublish, 0, beat);
    add(freeze, Kind::stall_all, 0, 3 * beat + 2 * second);
}

// A user is killed while importing nodes are asked to move to other memory, and takes the segment back at once: some
// have been asked by then, and others have not. That happens within microseconds in a window, where no keys are made.
void add_haste(Scenario &scenario, Random &random)
{
    const std::uint64_t beat = *std::max_element(scenario.heartbeats.begin(), scenario.heartbeats.end()) * ms;
    for (std::uint32_t round = 0; round < 5; round++) {
        const Time start = (3 + 4 * round) * beat;
        const auto add = [&](Time after, Kind kind, std::uint32_t node) {
            const std::uint32_t slot = kind == Kind::connect ? round : 0;
            scenario.actions.push_back({start + after, kind, node, slot, 0, everybody, beat});
        };
        add(0, Kind::publish, 0);
        for (std::uint32_t node = 1; node < scenario.nodes; node++)
            add(beat + random.below(beat / 2), Kind::connect, node);
        const Time killed = 3 * beat + random.below(100 * scenario.nodes);
        add(3 * beat, Kind::rebind, 0);
        add(killed, Kind::kill, 0);
        add(killed + random.below(100), Kind::destroy, 0);
    }
}

// A user is killed while importing nodes are asked to move, and asks them to move once more. Users of some of these
// nodes leave meanwhile: mostly when their node has just answered the first request, while others have not.
void add_leavers(Scenario &scenario, Random &random)
{
    const std::uint64_t beat = *std::max_element(scenario.heartbeats.begin(), scenario.heartbeats.end()) * ms;
    for (std::uint32_t round = 0; round < 5; round++) {
        const Time start = (3 + 4 * round) * beat;
        const auto add = [&](Time after, Kind kind, std::uint32_t node) {
            const std::uint32_t slot = kind == Kind::connect || kind == Kind::close ? round : 0;
            scenario.actions.push_back({start + after, kind, node, slot, 0, everybody, beat});
        };
        add(0, Kind::publish, 0);
        for (std::uint32_t node = 1; node < scenario.nodes; node++)
            add(beat + random.below(beat / 2), Kind::connect, node);
        add(3 * beat, Kind::rebind, 0);
        const Time killed = 3 * beat + random.below(2 * scenario.delay);
        add(killed, Kind::kill, 0);
        // The first of them that does not find the segment busy.
        for (int i = 0; i < 6; i++)
            add(killed + random.below(scenario.delay), Kind::rebind, 0);
        for (std::uint32_t node = 1; node < scenario.nodes; node++)
            add(killed + random.below(3 * scenario.delay), Kind::close, node);
    }
}

// A node dies and comes back. A hostile guest writes other node ids to its slot when others look who has come: mostly
// one that no node has, so that they take it.
void add_wrong_id(Scenario &scenario, Random &random)
{
    const std::uint64_t beat = *std::max_element(scenario.heartbeats.begin(), scenario.heartbeats.end()) * ms;
    const auto add = [&](Time at, Kind kind, std::uint32_t other, std::uint32_t value) {
        scenario.actions.push_back({at, kind, 0, 0, other, value, 2 * beat});
    };
    add(4 * beat, Kind::die, 0, 0);
    for (int i = 0; i < 20; i++)
        add(6 * beat + random.below(2 * scenario.delay), Kind::break_connection,
            random.one_in(4) ? static_cast<std::uint32_t>(random.between(1, scenario.nodes - 1)) : scenario.nodes,
            node_id_in_slot);
}

} // namespace

std::string Action::text() const
{
    const auto kind_at = std::find_if(kinds.begin(), kinds.end(),
                                      [&](const Weight &weight) { return weight.kind == kind; });
    return std::to_string(static_cast<double>(at) / second) + " s: node " +
           std::to_string(node + 1) + ": " + kind_at->name + ", slot " + std::to_string(slot) +
           ", node " + std::to_string(other + 1) + ", value " + std::to_string(value) + ", for " +
           std::to_string(time / ms) + " ms";
}

std::string Scenario::text() const
{
    std::string text = std::to_string(nodes) + " nodes, " + (keys ? "keys" : "a window") +
                       ", room for " + std::to_string(room) + " messages, delay up to " +
                       std::to_string(delay) + " us, keys take up to " +
                       std::to_string(key_time / ms) + " ms, heartbeats in ms:";
    for (const auto beat : heartbeats)
        text += " " + std::to_string(beat);
    return text;
}

Scenario Scenario::from(std::uint64_t seed)
{
    Random random(seed);
    random.next();
    Scenario scenario;
    scenario.seed = seed;
    scenario.nodes = any_size(random);
    scenario.keys = !random.one_in(3);
    draw_heartbeats(scenario, random);
    const auto longest = *std::max_element(scenario.heartbeats.begin(), scenario.heartbeats.end());
    scenario.room = static_cast<std::uint32_t>(random.between(4, 64));
    scenario.delay = random.between(50, longest * ms / 8);
    scenario.key_time = random.one_in(2) ? 2 * ms : random.between(1, 6) * longest * ms;
    scenario.length = 25 * longest * ms;
    const bool crowd = scenario.nodes >= 6 && random.one_in(3);
    if (crowd)
        add_crowd(scenario, random);
    const bool freeze = !crowd && random.one_in(4);
    if (freeze)
        add_freeze(scenario, random);
    const auto actions = crowd || freeze ? random.below(6) : random.between(10, 30 + 10 * scenario.nodes);
    for (std::uint64_t i = 0; i < actions; i++)
        scenario.actions.push_back(any_action(random, scenario));
    if (!scenario.keys && !crowd && !freeze) {
        if (random.one_in(2))
            add_haste(scenario, random);
        else if (random.one_in(4))
            add_wrong_id(scenario, random);
    }
    // By chance of its own: the other seeds stay what they were.
    if (Random leavers(seed ^ 0x1eaee5); scenario.keys && !crowd && !freeze && leavers.one_in(2))
        add_leavers(scenario, leavers);
    std::stable_sort(scenario.actions.begin(), scenario.actions.end(),
              [](const Action &a, const Action &b) { return a.at < b.at; });
    return scenario;
}

} // namespace sim
