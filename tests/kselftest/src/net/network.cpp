// SPDX-License-Identifier: GPL-2.0
// Networks under a controller that fail: links, devices, packets. Data is right or there is an
// error in bounded time; nothing hangs, and it works again afterwards.
#include "net/support/net_test.hpp"
#include "net/support/netem.hpp"
#include "net/support/traffic.hpp"

#include <thread>

using namespace rsmtest;
using namespace rsmtest::net;

namespace {

using std::chrono::milliseconds;
constexpr std::size_t pages = 16;

// A command on a node. There is another way there than the network.
void run(unsigned node, const std::string &command) {
    const Answer answer = Session(node).call("sh " + command);
    EXPECT_EQ(answer.status, 0) << "node " << node << ": " << command << ": " << answer.text;
}

// Takes the network from a node, and gives it back.
class Outage {
  public:
    explicit Outage(unsigned node) : node_(node) { run(node_, "ip link set eth0 down"); }
    ~Outage() { end(); }
    Outage(const Outage &) = delete;
    Outage &operator=(const Outage &) = delete;

    void end() {
        if (std::exchange(over_, true))
            return;
        run(node_, "ip link set eth0 up");
    }

  private:
    unsigned node_;
    bool over_ = false;
};

class NetNetwork : public NetTest {
  protected:
    void SetUp() override {
        NetTest::SetUp();
        if (!HasFatalFailure() && !IsSkipped() && (!has_machines() || !has_network()))
            GTEST_SKIP() << "needs a network device on each machine";
    }
    void expect_recovery() {
        ASSERT_TRUE(eventually([&] { return all_connected(); })) << "does not come back";
        Traffic after(self.node(), first.node(), pages);
        EXPECT_TRUE(after.flows()) << "it does not work any more";
        EXPECT_TRUE(after.end()) << "errors without a reason";
    }
    // The node that loses its device: a peer, or this one.
    void lose_device(unsigned node);
};

void NetNetwork::lose_device(unsigned node) {
    Traffic traffic(self.node(), first.node(), pages);
    ASSERT_TRUE(traffic.flows());
    run(node, "rdma link delete rxe0");
    traffic.expect_errors();
    EXPECT_FALSE(traffic.end());
    run(node, "rdma link add rxe0 type rxe netdev eth0");
    expect_recovery();
}

} // namespace

// Short enough for some to be retried, perhaps too long for others.
TEST_F(NetNetwork, link_is_down_for_a_second) {
    Traffic traffic(self.node(), first.node(), pages);
    ASSERT_TRUE(traffic.flows());
    Outage outage(first.node());
    std::this_thread::sleep_for(milliseconds(1000));
    outage.end();
    // Connections that are to fail have failed then: a connection that is there now may be about
    // to.
    std::this_thread::sleep_for(detection());
    expect_recovery();
    traffic.end();
}

// Longer than all retries. A packet of rdma_rxe may wait in the device until the link is up. rdma_rxe of Linux 6.1
// waits 50 seconds for it to end its queue pair, and then crashes when the device gives the packet back.
TEST_F(NetNetwork, link_is_down_for_half_a_minute) {
    Traffic traffic(self.node(), first.node(), pages);
    ASSERT_TRUE(traffic.flows());
    Outage outage(first.node());
    const auto start = Hub::Clock::now();
    traffic.expect_errors();
    EXPECT_FALSE(traffic.end());
    EXPECT_TRUE(eventually([&] { return !connected(self, first); })) << "still a path";
    Session session(self.node());
    RemoteImport late(session, first.node(), 0x600000);
    EXPECT_EQ(late.status(), RSMERR_REMOTE_NODE_UNREACHABLE);
    std::this_thread::sleep_until(start + std::chrono::seconds(30));
    outage.end();
    expect_recovery();
}

TEST_F(NetNetwork, device_of_a_peer_goes_under_load) {
    lose_device(first.node());
}

TEST_F(NetNetwork, own_device_goes_under_load) {
    lose_device(self.node());
}

TEST_F(NetNetwork, one_percent_of_the_packets_is_lost) {
    const std::size_t size = pages * page;
    Session exporter(first.node());
    RemoteExport exported(exporter, pages);
    ASSERT_EQ(exported.publish(), RSM_SUCCESS);
    {
        const Netem theirs(first.node(), "loss 1%");
        const Netem ours(self.node(), "loss 1%");
        int good = 0;
        for (std::uint64_t seed = 1; seed <= 20 || good == 0; seed++) {
            Session session(self.node());
            RemoteImport imported(session, exported.node(), exported.id());
            if (imported.status() != RSM_SUCCESS) {
                EXPECT_PRED1(is_disconnect, static_cast<std::uint64_t>(imported.status()));
                std::this_thread::sleep_for(milliseconds(200));
                continue;
            }
            EXPECT_EQ(imported.barrier("init"), RSM_SUCCESS);
            const int status = imported.put(0, size, seed);
            if (status != RSM_SUCCESS) {
                EXPECT_PRED1(is_disconnect, static_cast<std::uint64_t>(status));
                continue;
            }
            EXPECT_EQ(exported.memory().differ(0, size, seed), 0u) << "put of seed " << seed;
            const Answer got = imported.get(0, size, seed);
            if (got.status == RSM_SUCCESS) {
                EXPECT_EQ(got.value(), 0u) << "get of seed " << seed;
                good++;
            }
        }
        std::printf("note: %d transfers were carried out\n", good);
    }
    expect_recovery();
}

TEST_F(NetNetwork, storm_of_connects) {
    const int storm = 1000 / slow_factor();
    Session exporter(first.node());
    RemoteExport exported(exporter, 1);
    ASSERT_EQ(exported.publish(), RSM_SUCCESS);
    std::vector<std::unique_ptr<Session>> sessions;
    std::vector<std::unique_ptr<RemoteHammer>> hammers;
    for (const unsigned node : {self.node(), self.node(), self.node(), second.node()}) {
        sessions.push_back(std::make_unique<Session>(node));
        hammers.push_back(std::make_unique<RemoteHammer>(*sessions.back(), "connect", first.node(),
                                                         exported.id()));
    }
    for (const auto &hammer : hammers)
        EXPECT_TRUE(hammer->succeeds(storm / 4));
    for (const auto &hammer : hammers) {
        const Answer counts = hammer->calm();
        EXPECT_EQ(counts.value(1), 0u) << "failed, first with " << counts.value(2);
    }
    EXPECT_EQ(exported.destroy(), RSM_SUCCESS);
}
