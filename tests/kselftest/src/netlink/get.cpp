// SPDX-License-Identifier: GPL-2.0
// Requests for one object each: every attribute says what is so.
#include "netlink/support/client.hpp"
#include "support/child.hpp"
#include "support/raw.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <gtest/gtest.h>
#include <sched.h>
#include <set>
#include <sys/resource.h>
#include <unistd.h>

using namespace rsmtest;
using netlink::Client;
using netlink::Message;
using netlink::Request;
using netlink::Result;
using raw::success;

namespace {

class Netlink : public testing::Test {
protected:
    void SetUp() override { ASSERT_TRUE(client.valid()); }
    Client client;
};

Result segment_by_id(Client &client, std::uint32_t id)
{
    return client.ask(Request(RSM_CMD_SEGMENT_GET).put(RSM_A_SEGMENT_ID, id));
}

// The import of this process; there is one.
Message only_import(Client &client)
{
    const Result all = client.dump(RSM_CMD_IMPORT_GET);
    EXPECT_EQ(all.messages.size(), 1U);
    return all.one();
}

// Connects with a handle that is given, and moves some bytes.
void connect_and_move(int fd, const raw::Published &segment)
{
    ASSERT_EQ(raw::connect(fd, segment.id), success);
    Pages local(1);
    const auto put = raw::entry(local.data(), 8, 1000);
    const auto get = raw::entry(local.data(), 0, 24);
    ASSERT_EQ(raw::transfer(fd, RSM_IOC_PUTV, {&put, 1}), success);
    ASSERT_EQ(raw::transfer(fd, RSM_IOC_GETV, {&get, 1}), success);
    ASSERT_EQ(raw::post(fd), success);
}

} // namespace

using NetlinkGet = Netlink;

TEST_F(NetlinkGet, controller)
{
    const Result one =
        client.ask(Request(RSM_CMD_CONTROLLER_GET).put(RSM_A_CONTROLLER_NAME, "loopback"));
    EXPECT_EQ(one.one().text(RSM_A_CONTROLLER_NAME), "loopback");
    EXPECT_EQ(one.one().number(RSM_A_CONTROLLER_NODE_ID), raw::local_node());
    EXPECT_EQ(one.one().number(RSM_A_CONTROLLER_MAPPABLE), 1U);
    EXPECT_EQ(one.one().number(RSM_A_CONTROLLER_CONFIGURABLE), 0U);
    EXPECT_EQ(one.one().number(RSM_A_CONTROLLER_LINKS), 0U);
    EXPECT_FALSE(one.one().has(RSM_A_CONTROLLER_WINDOW_BYTES));
    const auto before = one.one().number(RSM_A_CONTROLLER_SEGMENTS);
    const raw::Published segment;
    const Result all = client.dump(RSM_CMD_CONTROLLER_GET);
    ASSERT_FALSE(all.messages.empty());
    EXPECT_EQ(all.messages[0].text(RSM_A_CONTROLLER_NAME), "loopback") << "is the first one";
    EXPECT_EQ(all.messages[0].number(RSM_A_CONTROLLER_SEGMENTS), before + 1);
}

TEST_F(NetlinkGet, what_is_not_there)
{
    const Result controller =
        client.ask(Request(RSM_CMD_CONTROLLER_GET).put(RSM_A_CONTROLLER_NAME, "elsewhere"));
    EXPECT_EQ(controller.error, ENOENT);
    EXPECT_EQ(controller.words, "There is no such controller");
    EXPECT_EQ(segment_by_id(client, 0x7ffffff0).error, ENOENT);
    EXPECT_EQ(client.ask(Request(RSM_CMD_SEGMENT_GET).put(RSM_A_SEGMENT_NUMBER, 65000)).error,
              ENOENT);
    EXPECT_EQ(client.ask(Request(RSM_CMD_IMPORT_GET).put(RSM_A_IMPORT_NUMBER, 65000)).error,
              ENOENT);
    EXPECT_EQ(client.ask(Request(RSM_CMD_PROCESS_GET)
                             .put(RSM_A_PROCESS_PID, static_cast<std::uint32_t>(getpid())))
                  .error,
              ENOENT);
    EXPECT_EQ(client.ask(Request(RSM_CMD_NODE_GET)
                             .put(RSM_A_NODE_CONTROLLER, "loopback")
                             .put(RSM_A_NODE_NODE_ID, 3))
                  .error,
              ENOENT);
}

// Exports and imports share one range of numbers.
TEST_F(NetlinkGet, number_of_the_other_kind)
{
    const raw::Published segment;
    const Fd handle = raw::open_segment();
    ASSERT_EQ(raw::connect(handle.get(), segment.id), success);
    const auto of_export = static_cast<std::uint32_t>(
        segment_by_id(client, segment.id).one().number(RSM_A_SEGMENT_NUMBER));
    const auto of_import =
        static_cast<std::uint32_t>(only_import(client).number(RSM_A_IMPORT_NUMBER));
    EXPECT_EQ(client.ask(Request(RSM_CMD_SEGMENT_GET).put(RSM_A_SEGMENT_NUMBER, of_import)).error,
              ENOENT);
    EXPECT_EQ(client.ask(Request(RSM_CMD_IMPORT_GET).put(RSM_A_IMPORT_NUMBER, of_export)).error,
              ENOENT);
}

// The peer of a link greets with a heartbeat that does not go with this node's.
TEST_F(NetlinkGet, node_whose_heartbeat_does_not_fit)
{
    const std::string order = "/sys/module/rsm_testctl/parameters/strange_heartbeat";
    const Request node =
        Request(RSM_CMD_NODE_GET).put(RSM_A_NODE_CONTROLLER, "linked0").put(RSM_A_NODE_NODE_ID, 7);
    const auto own = read_line("/sys/module/rsm/parameters/heartbeat_ms");
    ASSERT_TRUE(own);
    const unsigned long ms = std::stoul(*own);
    ASSERT_EQ(std::system("modprobe rsm_testctl"), 0);
    for (const unsigned long wrong : {4 * ms + 1, ms / 4 - 1}) {
        ASSERT_TRUE(write_text(order, std::to_string(wrong)));
        while (!client.ask(node).one().has(RSM_A_NODE_REASON))
            sched_yield();
        EXPECT_EQ(client.ask(node).one().text(RSM_A_NODE_REASON), "its heartbeat_ms does not fit");
        EXPECT_NE(client.ask(node).one().number(RSM_A_NODE_STATE), RSM_NODE_STATE_ACTIVE);
    }
    for (const unsigned long right : {4 * ms, ms / 4}) {
        ASSERT_TRUE(write_text(order, std::to_string(right)));
        while (client.ask(node).one().number(RSM_A_NODE_STATE) != RSM_NODE_STATE_ACTIVE)
            ASSERT_FALSE(client.ask(node).one().has(RSM_A_NODE_REASON)) << right;
    }
    EXPECT_TRUE(write_text(order, "0"));
    EXPECT_EQ(std::system("rmmod rsm_testctl"), 0);
}

TEST_F(NetlinkGet, segment)
{
    const raw::Published segment(3, RSM_ALLOW_REBIND);
    ASSERT_TRUE(segment.ok);
    const Result result = segment_by_id(client, segment.id);
    const Message &said = result.one();
    EXPECT_EQ(said.number(RSM_A_SEGMENT_ID), segment.id);
    EXPECT_EQ(said.text(RSM_A_SEGMENT_CONTROLLER), "loopback");
    EXPECT_EQ(said.number(RSM_A_SEGMENT_STATE), RSM_SEGMENT_STATE_PUBLISHED);
    EXPECT_EQ(said.number(RSM_A_SEGMENT_LENGTH), 3 * page_size());
    EXPECT_EQ(said.number(RSM_A_SEGMENT_UID), geteuid());
    EXPECT_EQ(said.number(RSM_A_SEGMENT_GID), getegid());
    EXPECT_EQ(said.number(RSM_A_SEGMENT_PID), static_cast<std::uint32_t>(getpid()));
    EXPECT_EQ(said.number(RSM_A_SEGMENT_FLAGS), std::uint32_t{RSM_ALLOW_REBIND});
    EXPECT_EQ(said.number(RSM_A_SEGMENT_PINNED_BYTES), 3 * page_size());
    EXPECT_EQ(said.number(RSM_A_SEGMENT_IMPORTERS), 0U);
    EXPECT_EQ(said.number(RSM_A_SEGMENT_REMOTE_IMPORTERS), 0U);
    EXPECT_EQ(said.number(RSM_A_SEGMENT_GRANTS), 0U);
    EXPECT_FALSE(said.has(RSM_A_SEGMENT_ACL));
    const auto number = static_cast<std::uint32_t>(said.number(RSM_A_SEGMENT_NUMBER));
    const Result same =
        client.ask(Request(RSM_CMD_SEGMENT_GET).put(RSM_A_SEGMENT_NUMBER, number));
    EXPECT_EQ(same.one().number(RSM_A_SEGMENT_ID), segment.id);
    EXPECT_EQ(same.one().types(), said.types());
}

TEST_F(NetlinkGet, states_and_access_list)
{
    const Fd handle = raw::open_segment();
    Pages memory(1);
    ASSERT_EQ(raw::bind(handle.get(), memory.data(), memory.size()), success);
    const auto look = [&] { return client.dump(RSM_CMD_SEGMENT_GET); };
    EXPECT_EQ(look().one().number(RSM_A_SEGMENT_STATE), RSM_SEGMENT_STATE_BOUND);
    EXPECT_FALSE(look().one().has(RSM_A_SEGMENT_ID));

    // As many as loopback, which has one node, takes.
    const std::vector<rsm_acl_entry> acl{{raw::local_node(), 0640}};
    std::uint32_t id = 0;
    ASSERT_EQ(raw::publish(handle.get(), id, acl), success);
    const Result published = look();
    const auto nodes = published.one().nested(RSM_A_SEGMENT_ACL, RSM_A_ACL_ENTRY_NODE_ID);
    const auto modes = published.one().nested(RSM_A_SEGMENT_ACL, RSM_A_ACL_ENTRY_MODE);
    ASSERT_EQ(nodes.size(), acl.size());
    for (std::size_t i = 0; i < acl.size(); i++) {
        EXPECT_EQ(nodes[i], acl[i].node);
        EXPECT_EQ(modes[i], acl[i].permission);
    }
    memory.release();
    EXPECT_TRUE(eventually([&] {
        return look().one().number(RSM_A_SEGMENT_STATE) == RSM_SEGMENT_STATE_DEAD;
    }));
    EXPECT_EQ(look().one().number(RSM_A_SEGMENT_PINNED_BYTES), 0U);
}

TEST_F(NetlinkGet, import_and_counters)
{
    const raw::Published segment;
    const Fd handle = raw::open_segment();
    connect_and_move(handle.get(), segment);
    const Message said = only_import(client);
    EXPECT_EQ(said.text(RSM_A_IMPORT_CONTROLLER), "loopback");
    EXPECT_EQ(said.number(RSM_A_IMPORT_ID), segment.id);
    EXPECT_EQ(said.number(RSM_A_IMPORT_NODE_ID), raw::local_node());
    EXPECT_EQ(said.number(RSM_A_IMPORT_UID), geteuid());
    EXPECT_EQ(said.number(RSM_A_IMPORT_PID), static_cast<std::uint32_t>(getpid()));
    EXPECT_EQ(said.number(RSM_A_IMPORT_RIGHTS), std::uint32_t{RSM_PERM_RDWR});
    EXPECT_EQ(said.number(RSM_A_IMPORT_LENGTH), segment.memory.size());
    EXPECT_EQ(said.number(RSM_A_IMPORT_ABORTED), 0U);
    EXPECT_EQ(said.number(RSM_A_IMPORT_PUT_BYTES), 1000U);
    EXPECT_EQ(said.number(RSM_A_IMPORT_GET_BYTES), 24U);
    EXPECT_FALSE(said.has(RSM_A_IMPORT_REASON));

    const Result result = segment_by_id(client, segment.id);
    const Message &exporter = result.one();
    EXPECT_EQ(said.number(RSM_A_IMPORT_EXPORTER), exporter.number(RSM_A_SEGMENT_NUMBER));
    EXPECT_EQ(exporter.number(RSM_A_SEGMENT_IMPORTERS), 1U);
    EXPECT_EQ(exporter.number(RSM_A_SEGMENT_EVENTS), 1U);
    EXPECT_EQ(exporter.number(RSM_A_SEGMENT_PUT_BYTES), 1000U);
    EXPECT_EQ(exporter.number(RSM_A_SEGMENT_GET_BYTES), 24U);

    ASSERT_EQ(raw::unpublish(segment.handle.get()), success);
    const Message aborted = only_import(client);
    EXPECT_EQ(aborted.number(RSM_A_IMPORT_ABORTED), 1U);
    EXPECT_EQ(aborted.number(RSM_A_IMPORT_REASON), RSM_REASON_EXPORTER);
    EXPECT_FALSE(aborted.has(RSM_A_IMPORT_EXPORTER));
}

TEST_F(NetlinkGet, import_by_ticket)
{
    Pages memory(1);
    const Fd exporter = raw::open_segment();
    ASSERT_EQ(raw::bind(exporter.get(), memory.data(), memory.size(), RSM_BIND_LOCAL), success);
    raw::Ticket ticket;
    ASSERT_EQ(raw::grant(exporter.get(), ticket, 8, 64), success);
    const Fd handle = raw::open_segment();
    ASSERT_EQ(raw::redeem(handle.get(), ticket), success);
    EXPECT_FALSE(only_import(client).has(RSM_A_IMPORT_ID));
    EXPECT_EQ(client.dump(RSM_CMD_SEGMENT_GET).one().number(RSM_A_SEGMENT_GRANTS), 1U);
    ASSERT_EQ(raw::revoke(exporter.get(), ticket), success);
    EXPECT_EQ(only_import(client).number(RSM_A_IMPORT_REASON), RSM_REASON_REVOKED);
}

TEST_F(NetlinkGet, process)
{
    const raw::Published one(2);
    const raw::Published two(5);
    const Fd handle = raw::open_segment();
    ASSERT_EQ(raw::connect(handle.get(), one.id), success);
    const rlimit limit{1 << 20, 1 << 20};
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_MEMLOCK, &before), 0);
    ASSERT_EQ(setrlimit(RLIMIT_MEMLOCK, &limit), 0);
    const auto pid = static_cast<std::uint32_t>(getpid());
    const Result result =
        client.ask(Request(RSM_CMD_PROCESS_GET).put(RSM_A_PROCESS_PID, pid));
    const Message &said = result.one();
    EXPECT_EQ(said.number(RSM_A_PROCESS_PID), pid);
    EXPECT_EQ(said.number(RSM_A_PROCESS_UID), geteuid());
    EXPECT_EQ(said.text(RSM_A_PROCESS_COMM), read_line("/proc/self/comm"));
    EXPECT_EQ(said.number(RSM_A_PROCESS_PINNED_BYTES), 7 * page_size());
    EXPECT_EQ(said.number(RSM_A_PROCESS_CHARGED_BYTES), 7 * page_size());
    EXPECT_EQ(said.number(RSM_A_PROCESS_LIMIT_BYTES), 1U << 20);
    EXPECT_EQ(said.number(RSM_A_PROCESS_SEGMENTS), 2U);
    EXPECT_EQ(said.number(RSM_A_PROCESS_IMPORTS), 1U);

    Child other([](Link &link) {
        const raw::Published segment(1);
        link.send();
        link.receive();
    });
    other.receive();
    const Result all = client.dump(RSM_CMD_PROCESS_GET);
    std::set<std::uint64_t> pids;
    for (const Message &message : all.messages)
        pids.insert(message.number(RSM_A_PROCESS_PID));
    EXPECT_EQ(all.messages.size(), 2U);
    EXPECT_EQ(pids, (std::set<std::uint64_t>{pid, static_cast<std::uint64_t>(other.pid())}));
    other.send();
    other.expect_success();
}

TEST_F(NetlinkGet, process_that_only_imports)
{
    const raw::Published segment;
    Child importer([&](Link &link) {
        const Fd handle = raw::open_segment();
        EXPECT_EQ(raw::connect(handle.get(), segment.id), success);
        link.send();
        link.receive();
    });
    importer.receive();
    const auto pid = static_cast<std::uint32_t>(importer.pid());
    const Result result = client.ask(Request(RSM_CMD_PROCESS_GET).put(RSM_A_PROCESS_PID, pid));
    EXPECT_EQ(result.one().number(RSM_A_PROCESS_SEGMENTS), 0U);
    EXPECT_EQ(result.one().number(RSM_A_PROCESS_IMPORTS), 1U);
    EXPECT_EQ(client.dump(RSM_CMD_PROCESS_GET).messages.size(), 2U);
    importer.send();
    importer.expect_success();
}

// In a container a process asks by the number that it knows, and gets that number.
TEST_F(NetlinkGet, process_in_a_namespace_of_pids)
{
    in_child([] {
        ASSERT_EQ(::unshare(CLONE_NEWPID), 0);
        in_child([] {
            ASSERT_EQ(::getpid(), 1);
            const raw::Published segment;
            Client inside;
            const auto ask = [&](std::uint32_t pid) {
                return inside.ask(Request(RSM_CMD_PROCESS_GET).put(RSM_A_PROCESS_PID, pid));
            };
            EXPECT_EQ(ask(1).one().number(RSM_A_PROCESS_PID), 1U);
            EXPECT_EQ(ask(1).one().number(RSM_A_PROCESS_SEGMENTS), 1U);
            EXPECT_EQ(ask(4711).error, ENOENT);
        });
    });
}

TEST_F(NetlinkGet, stats)
{
    const Result before = client.ask(Request(RSM_CMD_STATS_GET));
    const raw::Published segment(4);
    const Fd handle = raw::open_segment();
    ASSERT_EQ(raw::connect(handle.get(), segment.id), success);
    const Result after = client.ask(Request(RSM_CMD_STATS_GET));
    const auto difference = [&](int attribute) {
        return after.one().number(attribute) - before.one().number(attribute);
    };
    EXPECT_EQ(difference(RSM_A_STATS_HANDLES), 2U);
    EXPECT_EQ(difference(RSM_A_STATS_SEGMENTS), 1U);
    EXPECT_EQ(difference(RSM_A_STATS_PUBLISHED), 1U);
    EXPECT_EQ(difference(RSM_A_STATS_IMPORTS), 1U);
    EXPECT_EQ(difference(RSM_A_STATS_GRANTS), 0U);
    EXPECT_EQ(difference(RSM_A_STATS_PINNED_BYTES), 4 * page_size());
    EXPECT_EQ(std::to_string(after.one().number(RSM_A_STATS_MAX_SEGMENTS)),
              read_line("/sys/module/rsm/parameters/max_segments"));
    EXPECT_GT(after.one().number(RSM_A_STATS_MAX_PINNED_BYTES), 0U);
    EXPECT_EQ(after.one().nested(RSM_A_STATS_LIMIT, RSM_A_LIMIT_KIND).size(),
              std::size_t{RSM_LIMIT_USER_MEMORY} + 1);
}

TEST_F(NetlinkGet, unknown_and_malformed_requests_are_refused)
{
    const std::uint8_t byte[] = {1};
    const std::uint8_t open_end[] = {'l', 'o'};
    const std::uint32_t id = 0x600000;
    const std::uint8_t secret[RSM_SECRET_SIZE] = {1};
    // A type that the command does not know, one that it only answers, wrong sizes, no NUL.
    for (const Request &bad : {
             Request(RSM_CMD_SEGMENT_GET).put(RSM_A_SEGMENT_MAX + 1, id),
             Request(RSM_CMD_SEGMENT_GET).put(RSM_A_SEGMENT_ID, id).put(RSM_A_SEGMENT_LENGTH, id),
             Request(RSM_CMD_SEGMENT_GET).raw(RSM_A_SEGMENT_ID, byte),
             Request(RSM_CMD_SEGMENT_GET),
             Request(RSM_CMD_SEGMENT_GET).put(RSM_A_SEGMENT_ID, id).put(RSM_A_SEGMENT_NUMBER, 1),
             Request(RSM_CMD_IMPORT_GET),
             Request(RSM_CMD_PROCESS_GET),
             Request(RSM_CMD_CONTROLLER_GET),
             Request(RSM_CMD_CONTROLLER_GET).raw(RSM_A_CONTROLLER_NAME, open_end),
             Request(RSM_CMD_CONTROLLER_GET)
                 .put(RSM_A_CONTROLLER_NAME, std::string(RSM_NAME_SIZE, 'x')),
             Request(RSM_CMD_NODE_GET).put(RSM_A_NODE_NODE_ID, 1),
             Request(RSM_CMD_SECRET_SET).raw(RSM_A_SECRET_USE, secret),
             Request(RSM_CMD_SECRET_SET).put(RSM_A_SECRET_CONTROLLER, "loopback"),
             Request(RSM_CMD_STATS_GET).put(RSM_A_STATS_HANDLES, 1),
             Request(RSM_CMD_STATS_GET).put(RSM_A_STATS_MAX + 7, 1),
         })
        EXPECT_EQ(client.ask(bad).error, EINVAL) << "command " << bad.command;
    EXPECT_EQ(client
                  .ask(Request(RSM_CMD_NODE_GET)
                           .put(RSM_A_NODE_CONTROLLER, "loopback")
                           .put(RSM_A_NODE_NODE_ID, RSM_NODE_MAX + 1))
                  .error,
              ERANGE);
    EXPECT_EQ(client.ask(Request(RSM_CMD_MAX + 1)).error, EOPNOTSUPP);
    EXPECT_EQ(client.ask(Request(RSM_EVENT_PUBLISH)).error, EOPNOTSUPP);
    EXPECT_EQ(client.dump(RSM_CMD_STATS_GET).error, EOPNOTSUPP);
    Request flags(RSM_CMD_STATS_GET);
    flags.flags = NLM_F_CREATE;
    EXPECT_EQ(client.ask(flags).error, EINVAL);
}

TEST_F(NetlinkGet, dumps_take_no_attributes)
{
    EXPECT_EQ(client.dump(Request(RSM_CMD_SEGMENT_GET).put(RSM_A_SEGMENT_NUMBER, 1)).error,
              EINVAL);
    EXPECT_EQ(client.dump(Request(RSM_CMD_PROCESS_GET).put(RSM_A_PROCESS_PID, 1)).error, EINVAL);
    EXPECT_EQ(client.dump(Request(RSM_CMD_NODE_GET).put(RSM_A_NODE_MAX + 1, 1)).error, EINVAL);
}
