// SPDX-License-Identifier: GPL-2.0
// Events across nodes: S10 to S15, and who gets how many.
#include "net/support/net_test.hpp"

#include <csignal>

using namespace rsmtest;
using namespace rsmtest::net;

namespace {

class NetEvents : public NetPairTest {
  protected:
    void SetUp() override {
        NetPairTest::SetUp();
        if (HasFatalFailure() || IsSkipped())
            return;
        exported = std::make_unique<RemoteExport>(exporter(), 1);
        ASSERT_EQ(exported->publish(), RSM_SUCCESS);
        imported = std::make_unique<RemoteImport>(importer(), *exported);
    }
    std::unique_ptr<RemoteExport> exported;
    std::unique_ptr<RemoteImport> imported;
};

NET_BOTH_WAYS(NetEvents);

} // namespace

TEST_P(NetEvents, S10_each_bell_counts) {
    for (int i = 0; i < 50; i++)
        ASSERT_EQ(imported->post(), RSM_SUCCESS);
    EXPECT_EQ(exported->events(50), 50u);
    EXPECT_EQ(exported->wait(0), RSMERR_TIMEOUT);
    for (int i = 0; i < 50; i++)
        ASSERT_EQ(exported->post(), RSM_SUCCESS);
    EXPECT_EQ(imported->events(50), 50u);
    EXPECT_EQ(imported->wait(0), RSMERR_TIMEOUT);
}

// As fast as it goes: more than a queue holds.
TEST_P(NetEvents, S10_none_of_many_is_lost) {
    RemoteHammer hammer(importer(), "post", imported->name());
    EXPECT_TRUE(hammer.succeeds(2000));
    const Answer counts = hammer.calm();
    EXPECT_EQ(counts.value(1), 0u) << "posts failed with " << counts.value(2);
    EXPECT_EQ(exported->events(counts.value(0)), counts.value(0));
}

// A connection is ended by both sides at a time, and the next one begins at once: what is still
// said of the one must not be taken for something about the other.
TEST_P(NetEvents, S10_none_is_lost_after_a_connection_that_both_end) {
    constexpr std::uint32_t passing_id = 0x600200;
    Session host(exporter_node().node());
    RemoteExport passing(host, 1);
    RemoteHammer comes_and_goes(host, "publish", passing.name(), passing_id);
    ASSERT_EQ(imported->disconnect(), RSM_SUCCESS) << "each visit is to be a connection";
    RemoteHammer visits(importer(), "visit", exported->node(), passing_id, exported->id());
    // The agents decide this, in the same way over a network, where each visit takes longer.
    EXPECT_TRUE(visits.succeeds(has_network() ? 50 : 200));
    const Answer counts = visits.calm();
    EXPECT_EQ(counts.value(1), 0u) << "visits failed with " << counts.value(2);
    EXPECT_EQ(exported->events(2 * counts.value(0)), 2 * counts.value(0));
    EXPECT_GT(comes_and_goes.calm().value(0), 0u) << "nothing has ended";
}

TEST_P(NetEvents, S11_no_accumulate) {
    Fence fence(exporter(), importer());
    for (int i = 0; i < 5; i++)
        ASSERT_EQ(imported->post(RSM_SIGPOST_NO_ACCUMULATE), RSM_SUCCESS);
    fence.at_exporter();
    EXPECT_EQ(exported->events(1), 1u);
    ASSERT_EQ(imported->post(), RSM_SUCCESS);
    ASSERT_EQ(imported->post(), RSM_SUCCESS);
    ASSERT_EQ(imported->post(RSM_SIGPOST_NO_ACCUMULATE), RSM_SUCCESS);
    fence.at_exporter();
    EXPECT_EQ(exported->events(2), 2u);
    for (int i = 0; i < 5; i++)
        ASSERT_EQ(exported->post(RSM_SIGPOST_NO_ACCUMULATE), RSM_SUCCESS);
    fence.at_importer();
    EXPECT_EQ(imported->events(1), 1u);
}

// All of them hang on one connection between the nodes, but each counts for itself.
TEST_P(NetEvents, S12_every_importer_gets_one) {
    Session elsewhere(importer_node().node());
    RemoteImport again(importer(), *exported);
    RemoteImport other(elsewhere, *exported);
    Session beside(exporter_node().node());
    RemoteImport local(beside, *exported);
    ASSERT_EQ(exported->post(), RSM_SUCCESS);
    for (RemoteImport *import : {imported.get(), &again, &other, &local})
        EXPECT_EQ(import->events(1), 1u) << import->name();
    EXPECT_EQ(exported->events(), 0u) << "the exporter itself gets none";
    ASSERT_EQ(again.disconnect(), RSM_SUCCESS);
    ASSERT_EQ(exported->post(), RSM_SUCCESS);
    for (RemoteImport *import : {imported.get(), &other, &local})
        EXPECT_EQ(import->events(1), 1u) << "after one of them has gone";
    for (RemoteImport *import : {imported.get(), &other, &local})
        ASSERT_EQ(import->post(), RSM_SUCCESS);
    EXPECT_EQ(exported->events(3), 3u);
}

TEST_P(NetEvents, S12_no_accumulate_is_each_importers_own) {
    Fence fence(exporter(), importer());
    RemoteImport again(importer(), *exported);
    ASSERT_EQ(exported->post(), RSM_SUCCESS);
    EXPECT_EQ(again.events(1), 1u);
    ASSERT_EQ(exported->post(RSM_SIGPOST_NO_ACCUMULATE), RSM_SUCCESS);
    fence.at_importer();
    EXPECT_EQ(again.events(1), 1u) << "had none pending";
    EXPECT_EQ(imported->events(1), 1u) << "had one pending";
}

TEST_P(NetEvents, S13_waits_end_in_time) {
    EXPECT_EQ(exported->wait(0), RSMERR_TIMEOUT);
    EXPECT_EQ(imported->wait(50), RSMERR_TIMEOUT);
    Pending waiting = exporter().begin("wait", exported->name(), -1);
    ASSERT_EQ(imported->post(), RSM_SUCCESS);
    EXPECT_EQ(waiting.get().status, RSM_SUCCESS) << "not woken from the other node";
    Pending interrupted = importer().begin("wait", imported->name(), -1);
    importer().interrupt(interrupted, SIGUSR1);
    EXPECT_EQ(interrupted.get().status, RSMERR_INTERRUPTED);
}

// One post wakes who waits in any process of the other node.
TEST_P(NetEvents, S14_waiters_of_one_connection) {
    Session elsewhere(importer_node().node());
    RemoteImport other(elsewhere, *exported);
    Pending one = importer().begin("wait", imported->name(), -1);
    Pending two = elsewhere.begin("wait", other.name(), -1);
    ASSERT_EQ(exported->post(), RSM_SUCCESS);
    EXPECT_EQ(one.get().status, RSM_SUCCESS);
    EXPECT_EQ(two.get().status, RSM_SUCCESS);
    EXPECT_EQ(imported->events(0), 0u);
    EXPECT_EQ(other.events(0), 0u);
}

TEST_P(NetEvents, S15_poll) {
    EXPECT_EQ(exporter().value("poll", exported->name(), 0), 0u);
    ASSERT_EQ(imported->post(), RSM_SUCCESS);
    EXPECT_EQ(exporter().value("poll", exported->name(), -1), 1u);
    EXPECT_EQ(exporter().value("poll", exported->name(), 0), 1u) << "poll consumed the event";
    EXPECT_EQ(exporter().value("wait_pollfd", -1, exported->name()), 1u);
    EXPECT_EQ(exported->wait(0), RSMERR_TIMEOUT) << "wait_pollfd did not consume it";
}

TEST_P(NetEvents, I10_events_from_before_the_end) {
    ASSERT_EQ(exported->post(), RSM_SUCCESS);
    ASSERT_EQ(exported->unpublish(), RSM_SUCCESS);
    ASSERT_EQ(exported->post(), RSM_SUCCESS);
    EXPECT_TRUE(imported->hung_up());
    EXPECT_EQ(imported->events(1), 1u) << "one from before, none from after";
    EXPECT_EQ(imported->post(), RSMERR_CONN_ABORTED);
    EXPECT_EQ(exported->events(0), 0u);
}
