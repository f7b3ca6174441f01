// SPDX-License-Identifier: GPL-2.0
// Things that are to happen in a simulation, apart from chance: all of it follows from the seed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sim {

enum class Kind : std::uint8_t {
    publish,
    republish,
    rebind,
    unpublish,
    destroy,
    connect,
    close,
    use,
    post_importers,
    kill,
    stall,
    stall_all,
    die,
    leave,
    cut,
    break_connection,
    mute,
    slow,
    lie,
};

struct Action {
    std::uint64_t at; // microseconds
    Kind kind;
    std::uint32_t node; // index
    std::uint32_t slot;
    std::uint32_t other; // another node's index
    std::uint32_t value;
    std::uint64_t time; // how long, in microseconds

    std::string text() const;
};

// A list that names no node: it is for all.
inline constexpr std::uint32_t everybody = 0;
// In a window: a hostile guest writes to the node id of a slot.
inline constexpr std::uint32_t node_id_in_slot = 2;

struct Scenario {
    std::uint64_t seed = 0;
    std::uint32_t nodes = 0;
    bool star = false; // all nodes have a link to the first one, and no other
    bool keys = false; // memory is reached by keys, as over RDMA
    std::vector<std::uint32_t> heartbeats; // milliseconds, for each node
    std::uint32_t room = 0; // messages that a direction takes
    std::uint64_t delay = 0; // of a message, at most, in microseconds
    std::uint64_t key_time = 0; // to make a key, at most, likewise
    std::uint64_t length = 0;
    std::vector<Action> actions;

    static Scenario from(std::uint64_t seed);
    std::string text() const;
};

} // namespace sim
