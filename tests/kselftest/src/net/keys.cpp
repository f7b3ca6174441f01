// SPDX-License-Identifier: GPL-2.0
// Keys to memory, by which other nodes reach it: for whom they are made, and what they allow.
#include "net/support/net_test.hpp"

using namespace rsmtest;
using namespace rsmtest::net;

namespace {

class NetKeys : public NetTest {
  protected:
    void SetUp() override {
        NetTest::SetUp();
        if (!HasFatalFailure() && !IsSkipped() && (!has_machines() || !has_network()))
            GTEST_SKIP() << "this controller has no keys";
    }
    // Memory that the device of the exporting node has registered, in pieces.
    unsigned registrations() const {
        const Answer answer = Session(first.node())
                                  .call("sh rdma resource show | sed -n 's/.* mr \\([0-9]*\\).*/\\1/p'");
        EXPECT_EQ(answer.status, 0) << answer.text;
        return static_cast<unsigned>(std::stoul("0" + answer.text));
    }
    Acl mode(unsigned permission) const { return {{self.node(), permission}}; }
};

} // namespace

TEST_F(NetKeys, are_made_for_those_who_may_use_them) {
    Session exporter(first.node());
    RemoteExport exported(exporter, 600);
    ASSERT_EQ(exported.publish(0, mode(0600)), RSM_SUCCESS);
    const unsigned before = registrations();
    Session stranger(self.node());
    ASSERT_EQ(stranger.status("user", "1001 1001"), 0);
    EXPECT_EQ(RemoteImport(stranger, first.node(), exported.id()).status(), RSMERR_PERM_DENIED);
    EXPECT_EQ(registrations(), before) << "it was denied";
    Session importer(self.node());
    RemoteImport imported(importer, exported);
    EXPECT_EQ(imported.put64(0, 5), RSM_SUCCESS);
    const unsigned used = registrations();
    EXPECT_GT(used, before);
    RemoteImport again(importer, exported);
    EXPECT_EQ(again.put64(8, 6), RSM_SUCCESS);
    EXPECT_EQ(registrations(), used) << "it has them already";
    EXPECT_EQ(exported.destroy(), RSM_SUCCESS);
    EXPECT_EQ(registrations(), before);
}

// The importing node's root is above its users, not above what the exporter has given to the node. A
// request beyond it, if it were made, would end the connection of the nodes.
TEST_F(NetKeys, allow_what_the_mode_of_the_node_allows) {
    Session exporter(first.node());
    RemoteExport exported(exporter, 1);
    Session importer(self.node());
    for (const unsigned permission : {0444U, 0222U, 0000U}) {
        ASSERT_EQ(exported.publish(0, mode(permission)), RSM_SUCCESS);
        RemoteImport imported(importer, exported);
        EXPECT_EQ(imported.put64(0, 5), permission & 0222 ? RSM_SUCCESS : RSMERR_PERM_DENIED);
        EXPECT_EQ(imported.get64(0).status, permission & 0444 ? RSM_SUCCESS : RSMERR_PERM_DENIED);
        EXPECT_TRUE(connected(self, first));
        EXPECT_EQ(imported.disconnect(), RSM_SUCCESS);
        ASSERT_EQ(exported.unpublish(), RSM_SUCCESS);
    }
}
