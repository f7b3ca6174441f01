// SPDX-License-Identifier: GPL-2.0
// Tests with several nodes.
#pragma once

#include "net/support/segments.hpp"

#include <gtest/gtest.h>
#include <memory>
#include <vector>

namespace rsmtest::net {

// Everybody is there and usable when a test begins, and has nothing left when it ends.
class NetTest : public testing::Test {
  public:
    static std::chrono::milliseconds heartbeat();

  protected:
    void SetUp() override;
    void TearDown() override;

    const Configuration &configuration = Configuration::get();
    Peer self{configuration.own};
    Peer first{configuration.nodes.at(0)};
    Peer second{configuration.nodes.at(configuration.nodes.size() - 1)};
    const std::size_t page = page_size();

    bool mappable();
    // The controller has a window that segments live in.
    bool has_window() const { return configuration.controller.rfind("ivshmem", 0) == 0; }
    // The controller sits on the device rxe0 over eth0.
    bool has_network() const { return configuration.controller.rfind("rdma", 0) == 0; }
    // Each node is a machine of its own.
    bool has_machines() const { return first.node() != self.node(); }
    // Paths between all nodes are active.
    bool all_connected();
    bool connected(const Peer &from, const Peer &to);
    // The peer's machine is there again after it was killed, and has its paths.
    void restart(const std::vector<unsigned> &nodes);
    // Longest time until a dead node is noticed, and until a test has seen that.
    static std::chrono::milliseconds promised_detection();
    static std::chrono::milliseconds detection();

  private:
    void revive(const Peer &peer);
};

// The direction: exporter and importer.
enum class Roles { peer_to_self, self_to_peer, peer_to_peer };

class NetPairTest : public NetTest, public testing::WithParamInterface<Roles> {
  protected:
    void SetUp() override;
    void TearDown() override;

    Peer exporter_node() const { return GetParam() == Roles::self_to_peer ? self : first; }
    Peer importer_node() const {
        return GetParam() == Roles::peer_to_self   ? self
               : GetParam() == Roles::self_to_peer ? first
                                                   : second;
    }
    Session &exporter() { return *exporter_; }
    Session &importer() { return *importer_; }
    Acl everybody(unsigned permission = 0666) const {
        return {{importer_node().node(), permission}};
    }

  private:
    std::unique_ptr<Session> exporter_;
    std::unique_ptr<Session> importer_;
};

inline std::string roles_name(const testing::TestParamInfo<Roles> &info) {
    const char *const names[] = {"peer_to_self", "self_to_peer", "peer_to_peer"};
    return names[static_cast<int>(info.param)];
}

// The first so many ways; one will do where everything is slow, as all nodes run the same kernel
// and are looked at after each test.
std::vector<Roles> ways(std::size_t wanted);

// Both directions; all three ways where the third one may differ.
#define NET_BOTH_WAYS(suite)                                                                       \
    INSTANTIATE_TEST_SUITE_P(Net, suite, testing::ValuesIn(ways(2)), roles_name)
#define NET_ALL_WAYS(suite)                                                                        \
    INSTANTIATE_TEST_SUITE_P(Net, suite, testing::ValuesIn(ways(3)), roles_name)

} // namespace rsmtest::net
