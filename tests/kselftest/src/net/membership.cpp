// SPDX-License-Identifier: GPL-2.0
// Nodes that die, leave, stand still and come back.
#include "net/support/net_test.hpp"

#include <algorithm>
#include <csignal>
#include <thread>

using namespace rsmtest;
using namespace rsmtest::net;

namespace {

using std::chrono::milliseconds;
constexpr std::uint32_t the_id = 0x600300;
constexpr unsigned down = 1;
constexpr unsigned active = 3;

class NetMembership : public NetTest {
  protected:
    void SetUp() override {
        NetTest::SetUp();
        if (HasFatalFailure() || IsSkipped())
            return;
        if (!has_machines())
            GTEST_SKIP() << "one machine only";
    }
    // A connection in each direction between this node and the first peer.
    void connect_both_ways();
    // Kills the first peer, and waits until this node's importer knows.
    void kill_and_wait();
    // Whatever failed, the next test wants everybody back.
    void expect_everything_works_again();
    unsigned path() const { return self.path_to(first.node()); }
    bool path_is(unsigned state) const {
        return eventually([&] { return path() == state; });
    }

    std::unique_ptr<Session> here;
    std::unique_ptr<Session> there;
    std::unique_ptr<RemoteExport> exported_here;
    std::unique_ptr<RemoteExport> exported_there;
    std::unique_ptr<RemoteImport> imported_here;
    std::unique_ptr<RemoteImport> imported_there;
};

void NetMembership::connect_both_ways() {
    here = std::make_unique<Session>(self.node());
    there = std::make_unique<Session>(first.node());
    exported_here = std::make_unique<RemoteExport>(*here, 4);
    exported_there = std::make_unique<RemoteExport>(*there, 4);
    exported_here->memory().fill(0, 4 * page, 1);
    exported_there->memory().fill(0, 4 * page, 2);
    ASSERT_EQ(exported_here->publish(the_id), RSM_SUCCESS);
    ASSERT_EQ(exported_there->publish(the_id), RSM_SUCCESS);
    imported_here = std::make_unique<RemoteImport>(*here, *exported_there);
    imported_there = std::make_unique<RemoteImport>(*there, *exported_here);
    if (mappable()) {
        ASSERT_EQ(imported_here->map(4 * page), RSM_SUCCESS);
        ASSERT_EQ(imported_there->map(4 * page), RSM_SUCCESS);
        ASSERT_EQ(imported_here->differ(0, 4 * page, 2), 0u);
        ASSERT_EQ(imported_there->differ(0, 4 * page, 1), 0u);
    }
}

void NetMembership::kill_and_wait() {
    Pending hangup = imported_here->await_hangup();
    Vm::kill(first.node());
    const auto dead = Hub::Clock::now();
    EXPECT_EQ(hangup.get().value(), 1u);
    note_time("noticed; promised are " + std::to_string(promised_detection().count()) + " ms", dead);
}

void NetMembership::expect_everything_works_again() {
    Session exporter(first.node());
    Session importer(self.node());
    RemoteExport exported(exporter, 4);
    exported.memory().fill(0, 4 * page, 5);
    ASSERT_EQ(exported.publish(), RSM_SUCCESS);
    RemoteImport imported(importer, exported);
    EXPECT_EQ(imported.get(0, 4 * page, 5).value(), 0u);
    EXPECT_EQ(imported.post(), RSM_SUCCESS);
    EXPECT_EQ(exported.events(1), 1u);
    if (exported_here && exported_here->status() == RSM_SUCCESS) {
        RemoteImport back(exporter, self.node(), the_id);
        EXPECT_EQ(back.status(), RSM_SUCCESS) << "this node's export is still published";
    }
}

} // namespace

TEST_F(NetMembership, topology) {
    for (const Peer &from : {self, first, second}) {
        const Answer answer = from.session().call("topology");
        ASSERT_EQ(answer.status, 0);
        EXPECT_EQ(answer.value(), from.node());
        for (const Peer &to : {self, first, second})
            EXPECT_EQ(from.path_to(to.node()), from.node() == to.node() ? 0 : active)
                << from.node() << " to " << to.node();
    }
}

TEST_F(NetMembership, killed_node_is_noticed) {
    ASSERT_NO_FATAL_FAILURE(connect_both_ways());
    ASSERT_NO_FATAL_FAILURE(kill_and_wait());
    imported_here->expect_aborted();
    if (mappable()) {
        EXPECT_EQ(imported_here->nonzero(), 0u) << "the dead node's memory is still to be seen";
    }
    EXPECT_NE(path(), active);
    const auto asked = Hub::Clock::now();
    EXPECT_EQ(RemoteImport(*here, first.node(), the_id).status(), RSMERR_REMOTE_NODE_UNREACHABLE);
    note_time("a dead node was found out", asked);
    // The third node has noticed, too, and goes on with this one.
    EXPECT_TRUE(eventually([&] { return second.path_to(first.node()) != active; }));
    EXPECT_EQ(second.path_to(self.node()), active);
    EXPECT_EQ(exported_here->memory().differ(0, 4 * page, 1), 0u) << "our own export was harmed";
    EXPECT_EQ(exported_here->post(), RSM_SUCCESS);
    ASSERT_NO_FATAL_FAILURE(restart({first.node()}));
    imported_here->expect_aborted();
    expect_everything_works_again();
}

// A reboot that is faster than anybody can notice.
TEST_F(NetMembership, reboot_makes_another_node_of_it) {
    ASSERT_NO_FATAL_FAILURE(connect_both_ways());
    Vm::kill(first.node());
    Vm::start(first.node());
    EXPECT_TRUE(imported_here->hung_up());
    first.await();
    EXPECT_TRUE(path_is(active));
    imported_here->expect_aborted();
    Session exporter(first.node());
    RemoteExport heir(exporter, 4);
    heir.memory().fill(0, 4 * page, 9);
    ASSERT_EQ(heir.publish(the_id), RSM_SUCCESS);
    imported_here->expect_aborted();
    if (mappable()) {
        EXPECT_EQ(imported_here->nonzero(), 0u) << "an old handle sees the new node's memory";
    }
    EXPECT_EQ(heir.memory().differ(0, 4 * page, 9), 0u) << "an old handle wrote";
    EXPECT_EQ(exported_here->events(0), 0u);
    expect_everything_works_again();
}

// A module that is unloaded says good-bye.
TEST_F(NetMembership, clean_unload_is_noticed_at_once) {
    const std::string module =
        configuration.controller.substr(0, configuration.controller.size() - 1);
    Session shell(first.node());
    const Answer unloaded = shell.call("sh rmmod rsm_" + module);
    const auto gone = Hub::Clock::now();
    ASSERT_EQ(unloaded.status, 0) << unloaded.text;
    EXPECT_TRUE(eventually([&] { return path() == down || path() == 0; }));
    // A node that says nothing is one and a half heartbeats from being noticed.
    note_time("the end of the module was noticed", gone);
    Session here_too(self.node());
    const auto asked = Hub::Clock::now();
    EXPECT_EQ(RemoteImport(here_too, first.node(), the_id).status(),
              RSMERR_REMOTE_NODE_UNREACHABLE);
    note_time("a node that has left was found out", asked);
    const Answer loaded = shell.call("sh modprobe rsm_" + module);
    ASSERT_EQ(loaded.status, 0) << loaded.text;
    EXPECT_TRUE(path_is(active));
    expect_everything_works_again();
}

TEST_F(NetMembership, unload_is_refused_while_handles_are_open) {
    const std::string module =
        configuration.controller.substr(0, configuration.controller.size() - 1);
    ASSERT_NO_FATAL_FAILURE(connect_both_ways());
    Session shell(first.node());
    EXPECT_NE(shell.status("sh rmmod rsm_" + module), 0);
    EXPECT_NE(Session(self.node()).status("sh rmmod rsm_" + module), 0);
    EXPECT_EQ(imported_here->get(0, 4 * page, 2).value(), 0u) << "the attempt broke something";
    EXPECT_EQ(imported_there->get(0, 4 * page, 1).value(), 0u);
}

// Longer than anybody waits: the others have gone on without it, and it must see that.
TEST_F(NetMembership, paused_node_finds_itself_dead) {
    ASSERT_NO_FATAL_FAILURE(connect_both_ways());
    Vm::pause(first.node());
    EXPECT_TRUE(imported_here->hung_up());
    imported_here->expect_aborted();
    EXPECT_NE(path(), active);
    exported_here->memory().fill(0, 4 * page, 3);
    std::this_thread::sleep_for(2 * detection());
    Vm::resume(first.node());
    EXPECT_TRUE(imported_there->hung_up()) << "the resumed node believes in its import";
    imported_there->expect_aborted();
    EXPECT_EQ(exported_here->memory().differ(0, 4 * page, 3), 0u) << "the resumed node wrote";
    EXPECT_TRUE(path_is(active)) << "it can't rejoin";
    EXPECT_NE(RemoteImport(*here, first.node(), the_id).status(), RSMERR_REMOTE_NODE_UNREACHABLE);
    imported_here->expect_aborted();
    expect_everything_works_again();
}

// The host did something else for a while. Nobody has listened, so nobody judges.
TEST_F(NetMembership, all_stand_still_at_once)
{
    ASSERT_NO_FATAL_FAILURE(connect_both_ways());
    Vm::stall(4 * heartbeat());
    // A judgement at once would have come before a message has gone each way.
    expect_everything_works_again();
    EXPECT_EQ(imported_here->get(0, 4 * page, 2).value(), 0u);
    EXPECT_EQ(imported_there->get(0, 4 * page, 1).value(), 0u);
    // An export whose node was taken for dead takes no events any more.
    EXPECT_EQ(imported_here->post(), RSM_SUCCESS);
    EXPECT_EQ(imported_there->post(), RSM_SUCCESS);
    EXPECT_EQ(exported_there->events(1), 1u);
    EXPECT_EQ(exported_here->events(1), 1u);
}

// The window's part of a dead node comes back once nobody can still believe it alive.
TEST_F(NetMembership, window_of_the_dead_comes_back) {
    if (!has_window())
        GTEST_SKIP() << configuration.controller << " has no window";
    Session glutton(first.node());
    std::size_t taken = 0;
    while (taken < 4096 && RemoteExport(glutton, (1u << 20) / page).status() == RSM_SUCCESS)
        taken++;
    ASSERT_GE(taken, 4u);
    Session heir(self.node());
    EXPECT_EQ(RemoteExport(heir, (1u << 20) / page).status(), RSMERR_INSUFFICIENT_RESOURCES);
    Vm::kill(first.node());
    const std::size_t half = taken / 2;
    // The memory of an export that was refused has been touched; the machine has not much.
    const auto fits = [&] {
        RemoteExport exported(heir, (half << 20) / page);
        if (exported.status() == RSM_SUCCESS)
            return true;
        EXPECT_EQ(heir.status("munmap", exported.memory().name()), 0);
        return false;
    };
    EXPECT_TRUE(eventually(fits)) << "half of " << taken << " MiB can't be had";
    ASSERT_NO_FATAL_FAILURE(restart({first.node()}));
    expect_everything_works_again();
}

// A signal ends a connect that nobody answers.
TEST_F(NetMembership, connect_to_a_paused_node_can_be_interrupted) {
    Session importer(self.node());
    ASSERT_EQ(path(), active);
    Vm::pause(first.node());
    Pending pending = importer.begin("connect", "never", first.node(), the_id, RSM_PERM_RDWR);
    const auto signalled = Hub::Clock::now();
    importer.interrupt(pending, SIGUSR1);
    const int status = pending.get().status;
    EXPECT_TRUE(status == RSMERR_INTERRUPTED || status == RSMERR_REMOTE_NODE_UNREACHABLE ||
                status == RSMERR_CONN_ABORTED)
        << status;
    note_time("a signal ended the connect", signalled);
    Vm::resume(first.node());
    EXPECT_TRUE(path_is(active));
    expect_everything_works_again();
}

TEST_F(NetMembership, connect_to_a_node_that_dies_meanwhile) {
    Session importer(self.node());
    Vm::pause(first.node());
    const auto asked = Hub::Clock::now();
    Pending pending = importer.begin("connect", "never", first.node(), the_id, RSM_PERM_RDWR);
    Vm::kill(first.node());
    const int status = pending.get().status;
    EXPECT_TRUE(status == RSMERR_CONN_ABORTED || status == RSMERR_REMOTE_NODE_UNREACHABLE)
        << status;
    note_time("the death ended the connect", asked);
    ASSERT_NO_FATAL_FAILURE(restart({first.node()}));
    expect_everything_works_again();
}
