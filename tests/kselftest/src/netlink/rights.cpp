// SPDX-License-Identifier: GPL-2.0
// Rights to see objects, and to change them.
#include "netlink/support/client.hpp"
#include "support/child.hpp"
#include "support/raw.hpp"

#include <algorithm>
#include <cerrno>
#include <gtest/gtest.h>

using namespace rsmtest;
using netlink::Client;
using netlink::Message;
using netlink::Request;
using netlink::Result;
using raw::success;

namespace {

constexpr int owner_only[] = {
    RSM_A_SEGMENT_PID,       RSM_A_SEGMENT_FLAGS,        RSM_A_SEGMENT_IMPORTERS,
    RSM_A_SEGMENT_GRANTS,    RSM_A_SEGMENT_PINNED_BYTES, RSM_A_SEGMENT_REMOTE_IMPORTERS,
    RSM_A_SEGMENT_PUT_BYTES, RSM_A_SEGMENT_GET_BYTES,    RSM_A_SEGMENT_EVENTS,
};

const Message *find(const Result &result, std::uint32_t id)
{
    for (const Message &message : result.messages)
        if (message.has(RSM_A_SEGMENT_ID) && message.number(RSM_A_SEGMENT_ID) == id)
            return &message;
    return nullptr;
}

std::uint32_t publish_with(const raw::Published &segment, std::uint32_t mode)
{
    const rsm_acl_entry entry{raw::local_node(), mode};
    EXPECT_EQ(raw::republish(segment.handle.get(), {&entry, 1}), success);
    return segment.id;
}

} // namespace

TEST(NetlinkRights, others_see_what_they_may_connect_to_without_what_is_the_owners)
{
    const raw::Published open;
    const raw::Published closed;
    publish_with(open, 0604);
    publish_with(closed, 0600);
    in_child_as(bob(), [&] {
        Client client;
        const Result all = client.dump(RSM_CMD_SEGMENT_GET);
        EXPECT_EQ(all.error, 0);
        const Message *seen = find(all, open.id);
        ASSERT_TRUE(seen);
        for (const int attribute : owner_only)
            EXPECT_FALSE(seen->has(attribute)) << attribute;
        EXPECT_EQ(seen->number(RSM_A_SEGMENT_LENGTH), page_size());
        EXPECT_FALSE(find(all, closed.id));
        const auto ask = [&](std::uint32_t id) {
            return client.ask(Request(RSM_CMD_SEGMENT_GET).put(RSM_A_SEGMENT_ID, id));
        };
        EXPECT_EQ(ask(open.id).error, 0);
        EXPECT_EQ(ask(closed.id).error, ENOENT);
        EXPECT_EQ(ask(closed.id).words, ask(0x7ffffff1).words) << "tells that there is one";
    });
}

TEST(NetlinkRights, groups_count)
{
    const raw::Published segment;
    publish_with(segment, 0640);
    User member = bob();
    member.groups.push_back(getegid());
    const auto sees = [&] {
        Client client;
        return find(client.dump(RSM_CMD_SEGMENT_GET), segment.id) != nullptr;
    };
    in_child_as(bob(), [&] { EXPECT_FALSE(sees()); });
    in_child_as(member, [&] { EXPECT_TRUE(sees()); });
}

TEST(NetlinkRights, users_see_all_of_their_own_and_no_imports_or_processes_of_others)
{
    const raw::Published of_root;
    const Fd import_of_root = raw::open_segment();
    ASSERT_EQ(raw::connect(import_of_root.get(), of_root.id), success);
    const auto of_root_number = static_cast<std::uint32_t>(
        Client().dump(RSM_CMD_IMPORT_GET).one().number(RSM_A_IMPORT_NUMBER));
    in_child_as(alice(), [&] {
        const raw::Published own;
        ASSERT_TRUE(own.ok);
        const Fd handle = raw::open_segment();
        ASSERT_EQ(raw::connect(handle.get(), own.id), success);
        Client client;
        const Result segments = client.dump(RSM_CMD_SEGMENT_GET);
        const Message *seen = find(segments, own.id);
        ASSERT_TRUE(seen);
        for (const int attribute : owner_only)
            EXPECT_TRUE(seen->has(attribute)) << attribute;
        const Result imports = client.dump(RSM_CMD_IMPORT_GET);
        EXPECT_EQ(imports.one().number(RSM_A_IMPORT_ID), own.id);
        const auto import_of_other =
            Request(RSM_CMD_IMPORT_GET).put(RSM_A_IMPORT_NUMBER, of_root_number);
        EXPECT_EQ(client.ask(import_of_other).words, "There is no such import");
        EXPECT_EQ(client.dump(RSM_CMD_PROCESS_GET).one().number(RSM_A_PROCESS_UID), alice().uid);
        for (const int command : {RSM_CMD_CONTROLLER_GET, RSM_CMD_NODE_GET})
            EXPECT_EQ(client.dump(command).error, 0);
        EXPECT_EQ(client.ask(Request(RSM_CMD_STATS_GET)).error, 0);
    });
}

TEST(NetlinkRights, a_socket_shows_what_its_opener_may_see)
{
    const raw::Published closed;
    publish_with(closed, 0600);
    // bob's socket, in the hands of root, who reads for bob.
    Child opener(bob(), [](Link &link) {
        Client client;
        link.send_fd(client.descriptor());
        link.receive();
    });
    const Fd theirs = opener.link().receive_fd();
    Client client;
    ASSERT_EQ(dup2(theirs.get(), client.descriptor()), client.descriptor());
    // As somebody does who does not know what he writes to.
    client.addressed = false;
    const Result seen = client.dump(RSM_CMD_SEGMENT_GET);
    EXPECT_EQ(seen.error, 0);
    EXPECT_FALSE(find(seen, closed.id));
    opener.send();
    opener.expect_success();
}

TEST(NetlinkRights, changes_and_events_are_for_administrators)
{
    const raw::Published segment;
    in_child_as(bob(), [&] {
        Client client;
        EXPECT_EQ(client.subscribe(), EPERM);
        EXPECT_EQ(
            client.ask(Request(RSM_CMD_SEGMENT_REVOKE).put(RSM_A_SEGMENT_ID, segment.id)).error,
            EPERM);
        for (const int command : {RSM_CMD_NODE_ADD, RSM_CMD_NODE_SET, RSM_CMD_NODE_DEL})
            EXPECT_EQ(client.ask(Request(command)
                                     .put(RSM_A_NODE_CONTROLLER, "loopback")
                                     .put(RSM_A_NODE_NODE_ID, 2))
                          .error,
                      EPERM);
    });
    Client client;
    EXPECT_EQ(client.ask(Request(RSM_CMD_SEGMENT_GET).put(RSM_A_SEGMENT_ID, segment.id)).error, 0);
}

TEST(NetlinkRights, owners_do_not_revoke_by_netlink)
{
    in_child_as(alice(), [] {
        const raw::Published own;
        Client client;
        EXPECT_EQ(
            client.ask(Request(RSM_CMD_SEGMENT_REVOKE).put(RSM_A_SEGMENT_ID, own.id)).error,
            EPERM);
        EXPECT_EQ(raw::unpublish(own.handle.get()), success);
    });
}
