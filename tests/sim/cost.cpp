// SPDX-License-Identifier: GPL-2.0
// The cost of other nodes for a node. The others have a link to it and no other, since a thousand nodes have
// half a million pairs: what the first node does is the same.
#include "world.hpp"

namespace sim {

namespace {

constexpr Time rest = 30 * second;

std::size_t bytes_of(const Node &node)
{
    return node.bytes() + (node.peers.size() - 1) * sizeof(rsm_link);
}

} // namespace

Cost World::measure()
{
    begin();
    settle(10 * second);
    Node &node = *nodes_[0];
    Cost cost;
    cost.nodes = scenario_.nodes;
    cost.bytes = bytes_of(node);
    cost.timers = runtime_.timers(node);
    const std::uint64_t sent = node.sent;
    const std::uint64_t expired = node.expired;
    settle(rest);
    cost.messages = static_cast<double>(node.sent - sent) * second / rest;
    cost.expired = static_cast<double>(node.expired - expired) * second / rest;

    publish(node, {.at = 0, .kind = Kind::publish, .node = 0, .slot = 0, .other = 0, .value = everybody, .time = 0});
    for (const auto &other : nodes_)
        if (other.get() != &node)
            runtime_.at(runtime_.time(), other.get(), [this, &other] {
                connect_user(*other, {.at = 0, .kind = Kind::connect, .node = 0, .slot = 0, .other = 0, .value = 0, .time = 0});
            });
    settle(10 * second);
    cost.segment_bytes = bytes_of(node) - cost.bytes;
    const Time start = runtime_.time();
    const std::uint64_t before = node.sent;
    Time end = start;
    await({runtime_.spawn(&node, [&] {
        unpublish(*node.exports[0]);
        end = runtime_.time();
    })});
    cost.unpublish_time = end - start;
    cost.unpublish_messages = node.sent - before;
    return cost;
}

} // namespace sim
