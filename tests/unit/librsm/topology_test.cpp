// SPDX-License-Identifier: MIT
#include <cstring>
#include <gtest/gtest.h>

#include "topology.h"

namespace {

rsm_topology_controller controller(const char *name, std::uint64_t hwaddr, std::uint32_t peers) {
    rsm_topology_controller result{};
    std::strncpy(result.name, name, sizeof(result.name) - 1);
    result.hwaddr = hwaddr;
    result.peer_count = peers;
    return result;
}

rsm_topology_peer peer(const char *name, std::uint32_t node, std::uint32_t state) {
    rsm_topology_peer result{};
    std::strncpy(result.name, name, sizeof(result.name) - 1);
    result.hwaddr = std::uint64_t{node} << 32;
    result.node_id = node;
    result.state = state;
    return result;
}

TEST(Topology, OfALonelyNode) {
    auto *topology = rsm::layout_topology({7, {}, {}});
    ASSERT_NE(topology, nullptr);
    EXPECT_EQ(topology->topology_hdr.local_nodeid, 7U);
    EXPECT_EQ(topology->topology_hdr.local_cntlr_count, 0U);
    rsm_free_interconnect_topology(topology);
}

TEST(Topology, KeepsPeersWithTheirControllers) {
    auto *topology = rsm::layout_topology(
        {1,
         {controller("ivshmem0", 5, 0), controller("rdma0", 6, 2), controller("rdma1", 7, 1)},
         {peer("rdma4", 2, 3), peer("rdma5", 3, 1), peer("rdma6", 4, 2)}});
    ASSERT_NE(topology, nullptr);
    ASSERT_EQ(topology->topology_hdr.local_cntlr_count, 3U);
    auto **connections = static_cast<rsm_connections_t **>(topology->connections);

    EXPECT_STREQ(connections[0]->hdr.cntlr_name, "ivshmem0");
    EXPECT_EQ(connections[0]->hdr.remote_cntlr_count, 0);
    EXPECT_EQ(connections[1]->hdr.local_hwaddr, 6U);
    ASSERT_EQ(connections[1]->hdr.remote_cntlr_count, 2);
    const auto *remote = static_cast<rsm_remote_cntlr_t *>(connections[1]->remote_cntlr);
    EXPECT_STREQ(remote[1].remote_cntlrname, "rdma5");
    EXPECT_EQ(remote[1].remote_nodeid, 3U);
    EXPECT_EQ(remote[1].remote_hwaddr, std::uint64_t{3} << 32);
    EXPECT_EQ(remote[1].connection_state, 1U);
    EXPECT_STREQ(connections[2]->remote_cntlr[0].remote_cntlrname, "rdma6");
    for (int i = 0; i < 3; ++i)
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(connections[i]) % 8, 0U);
    rsm_free_interconnect_topology(topology);
}

TEST(Topology, FreesNothing) {
    rsm_free_interconnect_topology(nullptr);
}

} // namespace
