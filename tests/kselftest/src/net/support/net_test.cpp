// SPDX-License-Identifier: GPL-2.0
#include "net/support/net_test.hpp"

namespace rsmtest::net {

void NetTest::SetUp() {
    const Hub &hub = Hub::instance();
    if (!hub.available())
        GTEST_SKIP() << "no peers: " << hub.problem();
    self.await();
    for (const Peer &peer : {first, second}) {
        revive(peer);
        // One that did not answer when the test before ended may still have what that test made there.
        peer.end_sessions();
        peer.await_empty();
    }
    ASSERT_TRUE(eventually([&] { return all_connected(); })) << "paths are not active";
}

void NetTest::TearDown() {
    if (!Hub::instance().available() || IsSkipped())
        return;
    for (const Peer &peer : {first, second, self}) {
        if (!peer.answers())
            continue;
        peer.reset();
        peer.await_empty();
    }
}

// An earlier test may have failed with the machine stopped or dead.
void NetTest::revive(const Peer &peer) {
    if (peer.answers())
        return;
    Hub &hub = Hub::instance();
    const std::string node = std::to_string(peer.node());
    // A machine that runs, and is only slow, is started no more: the hub says so.
    for (const char *order : {"resume ", "start "}) {
        hub.tell_vm(order + node);
        hub.hear_vm();
    }
    peer.await();
}

bool NetTest::mappable() {
    return self.session().value("attr") != 0;
}

bool NetTest::connected(const Peer &from, const Peer &to) {
    return from.node() == to.node() || from.path_to(to.node()) == 3;
}

bool NetTest::all_connected() {
    for (const Peer &from : {self, first, second})
        for (const Peer &to : {self, first, second})
            if (!connected(from, to))
                return false;
    return true;
}

void NetTest::restart(const std::vector<unsigned> &nodes) {
    Vm::start(nodes);
    for (const unsigned node : nodes)
        Peer(node).await();
    ASSERT_TRUE(eventually([&] { return all_connected(); })) << "paths are not active";
}

std::chrono::milliseconds NetTest::heartbeat() {
    const auto text = read_line("/sys/module/rsm/parameters/heartbeat_ms");
    return std::chrono::milliseconds(text ? std::stoi(*text) : 0);
}

std::chrono::milliseconds NetTest::promised_detection() {
    return 2 * heartbeat() + std::chrono::milliseconds(100);
}

// A machine that is busy or slow takes time for what the test itself does between two looks at the
// clock.
std::chrono::milliseconds NetTest::detection() {
    return promised_detection() + scaled(1000);
}

std::vector<Roles> ways(std::size_t wanted) {
    std::vector<Roles> all{Roles::peer_to_self, Roles::self_to_peer, Roles::peer_to_peer};
    all.resize(slow_factor() > 1 ? 1 : wanted);
    return all;
}

void NetPairTest::SetUp() {
    NetTest::SetUp();
    if (HasFatalFailure() || IsSkipped())
        return;
    exporter_ = std::make_unique<Session>(exporter_node().node());
    importer_ = std::make_unique<Session>(importer_node().node());
}

void NetPairTest::TearDown() {
    exporter_.reset();
    importer_.reset();
    NetTest::TearDown();
}

} // namespace rsmtest::net
