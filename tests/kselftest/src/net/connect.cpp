// SPDX-License-Identifier: GPL-2.0
// Connects to a segment of another node, and the refusal of those that may not: I1, I2, E5 to E9.
#include "net/support/net_test.hpp"

#include <array>

using namespace rsmtest;
using namespace rsmtest::net;

namespace {

constexpr gid_t project = 4711;
constexpr std::uint32_t the_id = 0x600100;

class NetConnect : public NetPairTest {
  protected:
    int connect(std::uint32_t id, unsigned permission = RSM_PERM_RDWR) {
        return connect_from(importer(), id, permission);
    }
    int connect_from(Session &session, std::uint32_t id, unsigned permission = RSM_PERM_RDWR) {
        RemoteImport imported(session, exporter_node().node(), id, permission);
        if (imported.status() != RSM_SUCCESS)
            return imported.status();
        EXPECT_EQ(imported.disconnect(), RSM_SUCCESS);
        return RSM_SUCCESS;
    }
    // A node with machines of its own that is neither of the two.
    unsigned third_node() const {
        for (const Peer &peer : {self, first, second})
            if (peer.node() != exporter_node().node() && peer.node() != importer_node().node())
                return peer.node();
        return 0;
    }
};

NET_BOTH_WAYS(NetConnect);

class NetRights : public NetConnect {
  protected:
    enum Class { owner, group, other };

    struct Importer {
        const char *who;
        const char *identity;
        Class which;
    };
    static constexpr std::array<Importer, 5> users{{
        {"the owner", "1001 1001", owner},
        {"the owner, also in the group", "1001 4711", owner},
        {"effective group", "1002 4711", group},
        {"supplementary group", "1002 1002 5000 4711", group},
        {"somebody else", "1002 1002 5000", other},
    }};
    static bool allowed(unsigned mode, Class which, unsigned wanted) {
        return (wanted & ~(mode << (3 * which)) & 0600) == 0;
    }
    void check(unsigned mode, Session &session, const Importer &user, std::uint32_t id);
};

NET_BOTH_WAYS(NetRights);

} // namespace

TEST_P(NetConnect, I1_errors) {
    RemoteExport exported(exporter(), 1);
    ASSERT_EQ(exported.status(), RSM_SUCCESS);
    EXPECT_EQ(connect(the_id), RSMERR_SEG_NOT_PUBLISHED) << "never published";
    ASSERT_EQ(exported.publish(the_id), RSM_SUCCESS);
    EXPECT_EQ(connect(the_id + 1), RSMERR_SEG_NOT_PUBLISHED);
    EXPECT_EQ(connect(the_id, 0100), RSMERR_PERM_DENIED);
    EXPECT_EQ(connect(the_id), RSM_SUCCESS);
    ASSERT_EQ(exported.unpublish(), RSM_SUCCESS);
    EXPECT_EQ(connect(the_id), RSMERR_SEG_NOT_PUBLISHED) << "not published any more";
}

TEST_P(NetConnect, I1_absent_node) {
    if (!has_machines())
        GTEST_SKIP() << "one machine only";
    const auto before = Hub::Clock::now();
    EXPECT_EQ(RemoteImport(importer(), 9, the_id).status(), RSMERR_REMOTE_NODE_UNREACHABLE);
    note_time("a node that is not there was looked for", before);
}

TEST_P(NetConnect, I1_unlisted_node) {
    if (!has_machines() || !third_node())
        GTEST_SKIP() << "needs three machines";
    RemoteExport exported(exporter(), 1);
    ASSERT_EQ(exported.publish(the_id, {{third_node(), 0666}}), RSM_SUCCESS);
    EXPECT_EQ(connect(the_id), RSMERR_SEG_NOT_PUBLISHED_TO_NODE) << "privileged, but not listed";
    Session third(third_node());
    EXPECT_EQ(connect_from(third, the_id), RSM_SUCCESS);
    ASSERT_EQ(exported.republish({{third_node(), 0666}, {importer_node().node(), 0400}}),
              RSM_SUCCESS);
    EXPECT_EQ(connect(the_id), RSM_SUCCESS) << "listed now";
    ASSERT_EQ(exported.republish({{importer_node().node(), 0666}}), RSM_SUCCESS);
    EXPECT_EQ(connect_from(third, the_id), RSMERR_SEG_NOT_PUBLISHED_TO_NODE);
}

TEST_P(NetConnect, E5_ids_are_a_nodes_own) {
    RemoteExport one(exporter(), 1);
    RemoteExport two(exporter(), 1);
    ASSERT_EQ(one.publish(the_id), RSM_SUCCESS);
    EXPECT_EQ(two.publish(the_id), RSMERR_SEGID_IN_USE);
    if (has_machines()) {
        RemoteExport namesake(importer(), 1);
        EXPECT_EQ(namesake.publish(the_id), RSM_SUCCESS) << "another node's ids are free";
        one.memory().poke(0, 1);
        namesake.memory().poke(0, 2);
        RemoteImport imported(importer(), one);
        EXPECT_EQ(imported.get64(0).value(), 1u);
    }
    ASSERT_EQ(one.unpublish(), RSM_SUCCESS);
    EXPECT_EQ(two.publish(the_id), RSM_SUCCESS) << "the id is free after unpublish";
    two.memory().poke(0, 3);
    RemoteImport imported(importer(), two);
    EXPECT_EQ(imported.get64(0).value(), 3u);
}

TEST_P(NetConnect, E8_republish_and_unpublish_when_bound) {
    RemoteExport exported(exporter(), 1);
    EXPECT_EQ(exported.republish(), RSMERR_SEG_NOT_PUBLISHED);
    EXPECT_EQ(exported.unpublish(), RSMERR_SEG_NOT_PUBLISHED);
    ASSERT_EQ(exported.publish(the_id, everybody()), RSM_SUCCESS);
    RemoteImport imported(importer(), exported);
    ASSERT_EQ(exported.unpublish(), RSM_SUCCESS);
    EXPECT_TRUE(imported.hung_up());
    imported.expect_aborted();
    EXPECT_EQ(exported.republish(), RSMERR_SEG_NOT_PUBLISHED);
}

// All imports of a node share what the exporter has told it: later ones see what is new.
TEST_P(NetConnect, E9_republish_is_for_the_next) {
    RemoteExport exported(exporter(), 1);
    ASSERT_EQ(exported.publish(the_id, everybody(0666)), RSM_SUCCESS);
    Session user(importer_node().node());
    ASSERT_EQ(user.status("user", "1002 1002"), 0);
    RemoteImport before(user, exported);
    ASSERT_EQ(exported.republish(everybody(0664)), RSM_SUCCESS);
    EXPECT_EQ(before.put64(0, 5), RSM_SUCCESS) << "an existing connection lost a right";
    // The news travels; republish does not wait for it.
    EXPECT_TRUE(eventually([&] { return connect_from(user, the_id) == RSMERR_PERM_DENIED; }));
    EXPECT_EQ(connect_from(user, the_id, RSM_PERM_READ), RSM_SUCCESS);
    ASSERT_EQ(exported.republish(everybody(0666)), RSM_SUCCESS);
    EXPECT_TRUE(eventually([&] { return connect_from(user, the_id) == RSM_SUCCESS; }));
    EXPECT_EQ(before.put64(0, 6), RSM_SUCCESS);
    EXPECT_EQ(exported.memory().peek(0), 6u);
}

void NetRights::check(unsigned mode, Session &session, const Importer &user, std::uint32_t id) {
    for (const unsigned wanted : {0400u, 0200u, 0600u}) {
        SCOPED_TRACE(testing::Message()
                     << "mode " << std::oct << mode << ", " << user.who << ", asks for " << wanted);
        const bool fine = allowed(mode, user.which, wanted);
        RemoteImport imported(session, exporter_node().node(), id, wanted);
        EXPECT_EQ(imported.status(), fine ? RSM_SUCCESS : RSMERR_PERM_DENIED);
        if (imported.status() != RSM_SUCCESS)
            continue;
        EXPECT_EQ(imported.barrier("init"), RSM_SUCCESS);
        EXPECT_EQ(imported.put64(0, 1), wanted & 0200 ? RSM_SUCCESS : RSMERR_PERM_DENIED);
        EXPECT_EQ(imported.get64(0).status, wanted & 0400 ? RSM_SUCCESS : RSMERR_PERM_DENIED);
        EXPECT_EQ(imported.disconnect(), RSM_SUCCESS);
    }
}

TEST_P(NetRights, I2_matrix) {
    ASSERT_EQ(exporter().status("user", 1001, project), 0);
    RemoteExport exported(exporter(), 1);
    std::vector<std::unique_ptr<Session>> sessions;
    for (const Importer &user : users) {
        sessions.push_back(std::make_unique<Session>(importer_node().node()));
        ASSERT_EQ(sessions.back()->status("user", user.identity), 0);
    }
    for (const unsigned mode : {0600u, 0060u, 0006u, 0624u, 0u}) {
        ASSERT_EQ(exported.publish(the_id, everybody(mode)), RSM_SUCCESS);
        for (std::size_t i = 0; i < users.size(); i++)
            check(mode, *sessions[i], users[i], the_id);
        EXPECT_EQ(connect(the_id), RSM_SUCCESS) << "root is not held up by the user check";
        ASSERT_EQ(exported.unpublish(), RSM_SUCCESS);
    }
}

// Without a list every node may, with what the exporter's umask leaves.
TEST_P(NetRights, I3_default_is_the_umask_at_creation) {
    ASSERT_EQ(exporter().status("umask", 027), 0);
    ASSERT_EQ(exporter().status("user", 1001, project), 0);
    RemoteExport exported(exporter(), 1);
    ASSERT_EQ(exporter().status("umask", 0), 0);
    ASSERT_EQ(exported.publish(the_id), RSM_SUCCESS);
    for (const Importer &user : users) {
        Session session(importer_node().node());
        ASSERT_EQ(session.status("user", user.identity), 0);
        for (const unsigned wanted : {0400u, 0200u})
            EXPECT_EQ(connect_from(session, the_id, wanted),
                      allowed(0640, user.which, wanted) ? RSM_SUCCESS : RSMERR_PERM_DENIED)
                << user.who << " asks for " << std::oct << wanted;
    }
}

// An exporter that is root gives nothing away to a user of another node that it has not given.
TEST_P(NetRights, I2_exporter_is_root) {
    RemoteExport exported(exporter(), 1);
    ASSERT_EQ(exported.publish(the_id, everybody(0600)), RSM_SUCCESS);
    Session user(importer_node().node());
    ASSERT_EQ(user.status("user", "1001 1001"), 0);
    EXPECT_EQ(connect_from(user, the_id), RSMERR_PERM_DENIED);
    EXPECT_EQ(connect_from(user, the_id, RSM_PERM_NONE), RSM_SUCCESS);
    EXPECT_EQ(connect(the_id), RSM_SUCCESS);
}

TEST_P(NetRights, rights_stay_when_the_importer_drops_privileges) {
    RemoteExport exported(exporter(), 1);
    ASSERT_EQ(exported.publish(the_id, everybody(0600)), RSM_SUCCESS);
    RemoteImport imported(importer(), exported);
    ASSERT_EQ(importer().status("user", "1001 1001"), 0);
    EXPECT_EQ(imported.put64(0, 5), RSM_SUCCESS) << "rights are fixed at connect time";
    EXPECT_EQ(connect(the_id), RSMERR_PERM_DENIED);
}
