// SPDX-License-Identifier: MIT
// rsm_get_interconnect_topology and rsm_free_interconnect_topology.
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

#include "device.h"
#include "event_table.h"
#include "topology.h"

namespace rsm {
namespace {

std::size_t connections_size(std::size_t peers) noexcept {
    // No smaller than the type, which has room for one.
    return offsetof(rsm_connections_t, remote_cntlr) +
           std::max<std::size_t>(peers, 1) * sizeof(rsm_remote_cntlr_t);
}

std::size_t head_size(std::size_t controllers) noexcept {
    return offsetof(rsm_topology_t, connections) +
           std::max<std::size_t>(controllers, 1) * sizeof(rsm_connections_t *);
}

void store_peer(rsm_remote_cntlr_t &to, const rsm_topology_peer &from) noexcept {
    to.remote_nodeid = from.node_id;
    std::memcpy(to.remote_cntlrname, from.name, sizeof(from.name));
    to.remote_hwaddr = from.hwaddr;
    to.connection_state = from.state;
}

void store_controller(rsm_connections_t &to, const rsm_topology_controller &from,
                      std::span<const rsm_topology_peer> peers) noexcept {
    std::memcpy(to.hdr.cntlr_name, from.name, sizeof(from.name));
    to.hdr.local_hwaddr = from.hwaddr;
    to.hdr.remote_cntlr_count = static_cast<int>(peers.size());
    auto *entry = &to.remote_cntlr[0];
    for (const auto &peer : peers)
        store_peer(*entry++, peer);
}

// Asks until the picture fits: it may grow between two calls.
int query(TopologyPicture &picture) {
    Table *table = nullptr;
    if (const int status = event_table(table); status != RSM_SUCCESS)
        return status;
    for (;;) {
        rsm_topology_query argument{};
        argument.controllers = address_of(picture.controllers.data());
        argument.peers = address_of(picture.peers.data());
        argument.controller_count = static_cast<std::uint32_t>(picture.controllers.size());
        argument.peer_count = static_cast<std::uint32_t>(picture.peers.size());
        const int status = table->ask_topology(argument);
        if (status != RSM_SUCCESS)
            return status;
        const bool complete = argument.controller_count <= picture.controllers.size() &&
                              argument.peer_count <= picture.peers.size();
        picture.node = argument.node_id;
        picture.controllers.resize(argument.controller_count);
        picture.peers.resize(argument.peer_count);
        if (complete)
            return RSM_SUCCESS;
    }
}

} // namespace

rsm_topology_t *layout_topology(const TopologyPicture &picture) noexcept {
    const auto count = picture.controllers.size();
    auto size = head_size(count);
    for (const auto &controller : picture.controllers)
        size += connections_size(controller.peer_count);
    auto *block = static_cast<std::byte *>(std::calloc(1, size));
    if (block == nullptr)
        return nullptr;

    auto *topology = reinterpret_cast<rsm_topology_t *>(block);
    topology->topology_hdr = {picture.node, static_cast<uint_t>(count)};
    auto *link = &topology->connections[0];
    auto *next = block + head_size(count);
    std::span peers(picture.peers);
    for (const auto &controller : picture.controllers) {
        auto *connections = reinterpret_cast<rsm_connections_t *>(next);
        store_controller(*connections, controller, peers.first(controller.peer_count));
        peers = peers.subspan(controller.peer_count);
        *link++ = connections;
        next += connections_size(controller.peer_count);
    }
    return topology;
}

} // namespace rsm

int rsm_get_interconnect_topology(rsm_topology_t **topology_data) {
    if (topology_data == nullptr)
        return RSMERR_BAD_TOPOLOGY_PTR;
    *topology_data = nullptr;
    return rsm::guarded([&] {
        rsm::TopologyPicture picture;
        if (const int status = rsm::query(picture); status != RSM_SUCCESS)
            return status;
        *topology_data = rsm::layout_topology(picture);
        return *topology_data == nullptr ? RSMERR_INSUFFICIENT_MEM : RSM_SUCCESS;
    });
}

void rsm_free_interconnect_topology(rsm_topology_t *topology_data) {
    std::free(topology_data);
}
