// SPDX-License-Identifier: GPL-2.0
// Machines, processes and devices that go away in the middle of a transfer.
#include "net/support/net_test.hpp"
#include "net/support/traffic.hpp"

#include <algorithm>
#include <csignal>

using namespace rsmtest;
using namespace rsmtest::net;

namespace {

constexpr std::size_t pages = 64;

class NetFaults : public NetTest {
  protected:
    void SetUp() override {
        NetTest::SetUp();
        if (!HasFatalFailure() && !IsSkipped() && !has_machines())
            GTEST_SKIP() << "one machine only";
    }
};

// Twenty machines in five batches, so that each has the time of a test; fewer where all is slow.
class NetKill : public NetFaults, public testing::WithParamInterface<int> {};

INSTANTIATE_TEST_SUITE_P(Net, NetKill, testing::Range(1, slow_factor() > 1 ? 3 : 6));

// The controller is taken from its driver on one of the two sides.
class NetUnbind : public NetPairTest {
  protected:
    void SetUp() override {
        NetPairTest::SetUp();
        if (HasFatalFailure() || IsSkipped())
            return;
        if (!has_machines() || !has_window())
            GTEST_SKIP() << "needs a device of its own on each machine";
        exported = std::make_unique<RemoteExport>(exporter(), pages);
        exported->memory().fill(0, size, 1);
        ASSERT_EQ(exported->publish(), RSM_SUCCESS);
        imported = std::make_unique<RemoteImport>(importer(), *exported);
        ASSERT_EQ(imported->map(size), RSM_SUCCESS);
        ASSERT_EQ(imported->differ(0, size, 1), 0u);
        hammer = std::make_unique<RemoteHammer>(importer(), "post", imported->name());
        EXPECT_TRUE(hammer->succeeds());
    }
    void unbind_and_bind(const Peer &where);

    const std::size_t size = pages * page;
    std::unique_ptr<RemoteExport> exported;
    std::unique_ptr<RemoteImport> imported;
    std::unique_ptr<RemoteHammer> hammer;
};

NET_BOTH_WAYS(NetUnbind);

void NetUnbind::unbind_and_bind(const Peer &where) {
    Session shell(where.node());
    // The device's entry is a link, on whatever bus.
    const Answer device = shell.call("sh cd /sys/bus/*/drivers/rsm_ivshmem && find . -name '[0r]*' -type l");
    const std::string address = device.text.substr(2, device.text.find_last_not_of(" \n") - 1);
    const std::string write = "sh cd /sys/bus/*/drivers/rsm_ivshmem && echo " + address + " >";
    const Answer unbound = shell.call(write + "unbind");
    ASSERT_EQ(unbound.status, 0) << unbound.text;

    EXPECT_TRUE(imported->hung_up());
    EXPECT_TRUE(hammer->fails());
    EXPECT_EQ(hammer->calm().status, 0);
    imported->expect_aborted();
    EXPECT_EQ(imported->nonzero(), 0u) << "the mapping still shows something";
    EXPECT_EQ(exported->memory().differ(0, size, 1), 0u) << "the exporter lost its data";
    exported->memory().fill(0, size, 2);
    EXPECT_EQ(exported->memory().differ(0, size, 2), 0u);

    const Answer bound = shell.call(write + "bind");
    ASSERT_EQ(bound.status, 0) << bound.text;
    EXPECT_TRUE(eventually([&] { return all_connected(); })) << "does not come back";
    imported->expect_aborted();
    EXPECT_EQ(imported->unmap(), RSM_SUCCESS);
    EXPECT_EQ(imported->disconnect(), RSM_SUCCESS);
    EXPECT_EQ(exported->destroy(), RSM_SUCCESS);
    EXPECT_EQ(exported->memory().differ(0, size, 2), 0u) << "destroy lost the data";
}

} // namespace

TEST_P(NetKill, machine_in_the_middle_of_transfers) {
    std::vector<unsigned> nodes{first.node(), second.node()};
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    const int rounds = std::max(1, 2 / slow_factor());
    for (int round = 0; round < rounds && !HasFailure(); round++) {
        for (const unsigned node : nodes) {
            Traffic traffic(self.node(), node, pages);
            ASSERT_TRUE(traffic.flows(static_cast<std::uint64_t>(20 * (round + GetParam()))));
            Vm::kill(node);
            traffic.expect_cut();
        }
        ASSERT_NO_FATAL_FAILURE(restart(nodes));
    }
    Traffic after(self.node(), first.node(), pages);
    EXPECT_TRUE(after.flows()) << "it does not work any more";
}

TEST_F(NetFaults, connects_to_a_machine_that_is_killed) {
    Session exporter(first.node());
    RemoteExport exported(exporter, 1);
    ASSERT_EQ(exported.publish(), RSM_SUCCESS);
    std::vector<std::unique_ptr<Session>> sessions;
    std::vector<std::unique_ptr<RemoteHammer>> hammers;
    for (const unsigned node : {self.node(), self.node(), second.node()}) {
        sessions.push_back(std::make_unique<Session>(node));
        hammers.push_back(std::make_unique<RemoteHammer>(*sessions.back(), "connect", first.node(),
                                                         exported.id()));
    }
    for (const auto &hammer : hammers)
        EXPECT_TRUE(hammer->succeeds(5));
    Vm::kill(first.node());
    for (const auto &hammer : hammers) {
        // A connection that comes about at that moment may be aborted first.
        EXPECT_TRUE(hammer->fails_with(RSMERR_REMOTE_NODE_UNREACHABLE)) << "a connect hangs";
        const Answer counts = hammer->calm();
        EXPECT_EQ(counts.status, 0);
        EXPECT_PRED1(is_disconnect, counts.value(2)) << "first error";
    }
    ASSERT_NO_FATAL_FAILURE(restart({first.node()}));
}

TEST_F(NetFaults, exporter_killed_while_three_nodes_import) {
    const std::size_t size = pages * page;
    Session exporter(first.node());
    RemoteExport exported(exporter, pages);
    exported.memory().fill(0, size, 1);
    ASSERT_EQ(exported.publish(), RSM_SUCCESS);
    std::vector<std::unique_ptr<Session>> sessions;
    std::vector<std::unique_ptr<RemoteImport>> imports;
    std::vector<std::unique_ptr<RemoteHammer>> hammers;
    for (const Peer &peer : {self, first, second}) {
        Session &session = *sessions.emplace_back(std::make_unique<Session>(peer.node()));
        RemoteImport &imported =
            *imports.emplace_back(std::make_unique<RemoteImport>(session, exported));
        EXPECT_EQ(imported.get(0, size, 1).value(), 0u);
    }
    for (std::size_t i = 0; i < imports.size(); i++) {
        hammers.push_back(
            std::make_unique<RemoteHammer>(*sessions[i], "put", imports[i]->name(), size));
        EXPECT_TRUE(hammers[i]->succeeds());
    }
    exporter.kill();
    for (std::size_t i = 0; i < imports.size(); i++) {
        SCOPED_TRACE(testing::Message() << "node " << sessions[i]->node());
        EXPECT_TRUE(imports[i]->hung_up());
        EXPECT_TRUE(hammers[i]->fails());
        const Answer counts = hammers[i]->calm();
        EXPECT_EQ(counts.value(2), static_cast<std::uint64_t>(RSMERR_CONN_ABORTED));
        imports[i]->expect_aborted();
        if (mappable()) {
            EXPECT_EQ(imports[i]->unmap(), RSM_SUCCESS);
        }
        EXPECT_EQ(imports[i]->disconnect(), RSM_SUCCESS);
    }
    EXPECT_TRUE(all_connected()) << "a process is no node";
}

TEST_P(NetUnbind, of_the_exporter) {
    unbind_and_bind(exporter_node());
}

TEST_P(NetUnbind, of_the_importer) {
    unbind_and_bind(importer_node());
}
