// SPDX-License-Identifier: GPL-2.0
// Changes of an administrator, and the events that follow from what anybody does.
#include "interconnects/testctl.hpp"
#include "netlink/support/client.hpp"
#include "support/child.hpp"
#include "support/hanging.hpp"
#include "support/raw.hpp"

#include <cerrno>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/resource.h>

using namespace rsmtest;
using netlink::Client;
using netlink::Message;
using netlink::Request;
using raw::success;

namespace {

class NetlinkEvents : public testing::Test {
protected:
    void SetUp() override { ASSERT_EQ(listener.subscribe(), 0); }

    // The next event, which must be this one.
    Message next(int command)
    {
        const auto event = listener.event();
        EXPECT_TRUE(event && event->command() == command)
            << "not " << command << " but " << (event ? event->command() : 0);
        return event.value_or(Message(none));
    }

    // Nothing else has happened: the events of another segment are next.
    void expect_no_event()
    {
        std::uint32_t id = 0;
        {
            const raw::Published marker;
            id = marker.id;
        }
        EXPECT_EQ(next(RSM_EVENT_PUBLISH).number(RSM_A_SEGMENT_ID), id);
        EXPECT_EQ(next(RSM_EVENT_UNPUBLISH).number(RSM_A_SEGMENT_ID), id);
    }

    static constexpr nlmsghdr none{NLMSG_HDRLEN + GENL_HDRLEN, 0, 0, 0, 0};
    Client listener;
};

void pin_too_much(std::size_t pages)
{
    const rlimit limit{4 * page_size(), 4 * page_size()};
    ASSERT_EQ(setrlimit(RLIMIT_MEMLOCK, &limit), 0);
    Pages memory(pages);
    const Fd handle = raw::open_segment();
    EXPECT_EQ(raw::bind(handle.get(), memory.data(), memory.size()),
              raw::status(RSMERR_INSUFFICIENT_MEM));
}

} // namespace

TEST(NetlinkChange, revoke_ends_a_segment)
{
    const raw::Published segment;
    const Fd handle = raw::open_segment();
    ASSERT_EQ(raw::connect(handle.get(), segment.id), success);
    Client client;
    ASSERT_EQ(
        client.ask(Request(RSM_CMD_SEGMENT_REVOKE).put(RSM_A_SEGMENT_ID, segment.id)).error, 0);
    pollfd entry{handle.get(), POLLRDHUP, 0};
    EXPECT_EQ(poll(&entry, 1, 0), 1) << "importers are aborted before the answer";
    EXPECT_EQ(raw::post(handle.get()), raw::status(RSMERR_CONN_ABORTED));
    std::uint32_t id = 0;
    EXPECT_EQ(raw::publish(segment.handle.get(), id), raw::status(RSMERR_BAD_SEG_HNDL));
    const auto said = client.dump(RSM_CMD_SEGMENT_GET);
    EXPECT_EQ(said.one().number(RSM_A_SEGMENT_STATE), RSM_SEGMENT_STATE_DEAD);
    EXPECT_EQ(said.one().number(RSM_A_SEGMENT_REASON), RSM_REASON_REVOKED);
    EXPECT_EQ(said.one().number(RSM_A_SEGMENT_PINNED_BYTES), 0U);
    EXPECT_EQ(client.dump(RSM_CMD_IMPORT_GET).one().number(RSM_A_IMPORT_REASON),
              RSM_REASON_REVOKED);
    EXPECT_EQ(
        client.ask(Request(RSM_CMD_SEGMENT_REVOKE).put(RSM_A_SEGMENT_ID, segment.id)).error,
        ENOENT);
}

// As an importer is: by a wake-up, and by what poll says from then on.
TEST(NetlinkChange, revoke_is_told_to_the_exporter)
{
    const raw::Published segment;
    const Fd poller(epoll_create1(EPOLL_CLOEXEC));
    epoll_event event{EPOLLRDHUP | EPOLLET, {}};
    ASSERT_EQ(epoll_ctl(poller.get(), EPOLL_CTL_ADD, segment.handle.get(), &event), 0);
    EXPECT_EQ(epoll_wait(poller.get(), &event, 1, 0), 0);
    Client client;
    ASSERT_EQ(
        client.ask(Request(RSM_CMD_SEGMENT_REVOKE).put(RSM_A_SEGMENT_ID, segment.id)).error, 0);
    ASSERT_EQ(epoll_wait(poller.get(), &event, 1, 0), 1);
    EXPECT_EQ(event.events, static_cast<std::uint32_t>(EPOLLRDHUP));
    pollfd entry{segment.handle.get(), POLLRDHUP, 0};
    EXPECT_EQ(poll(&entry, 1, 0), 1);
}

TEST(NetlinkChange, revoke_does_not_wait_for_a_rebind_that_hangs)
{
    constexpr std::uint32_t the_id = 0x600091;
    const TestControllers module;
    const HangingPage page;
    HangingCall rebind(page, [&] {
        std::uint32_t id = the_id;
        const Pages hanging = page.map();
        const Pages old(1);
        const Fd handle = raw::open_segment();
        EXPECT_EQ(raw::bind(handle.get(), old.data(), old.size(), RSM_ALLOW_REBIND), success);
        EXPECT_EQ(raw::publish(handle.get(), id), success);
        return raw::rebind(handle.get(), hanging.data(), hanging.size());
    });
    Client client;
    EXPECT_EQ(client.ask(Request(RSM_CMD_SEGMENT_REVOKE).put(RSM_A_SEGMENT_ID, the_id)).error, 0);
    EXPECT_EQ(rebind.finish(), raw::status(RSMERR_BAD_SEG_HNDL));
    rebind.leave();
}

TEST(NetlinkChange, loopback_has_no_nodes)
{
    Client client;
    for (const int command : {RSM_CMD_NODE_ADD, RSM_CMD_NODE_SET}) {
        const auto node = [&](const std::string &controller) {
            return Request(command)
                .put(RSM_A_NODE_CONTROLLER, controller)
                .put(RSM_A_NODE_NODE_ID, 2)
                .put(RSM_A_NODE_ADDRESS, "10.0.0.2");
        };
        EXPECT_EQ(client.ask(node("loopback")).error, EOPNOTSUPP);
        EXPECT_EQ(client.ask(node("no such")).error, ENOENT);
        EXPECT_EQ(client
                      .ask(Request(command)
                               .put(RSM_A_NODE_CONTROLLER, "loopback")
                               .put(RSM_A_NODE_NODE_ID, 2))
                      .error,
                  EINVAL)
            << "without an address";
    }
}

TEST_F(NetlinkEvents, publish_connect_disconnect_unpublish)
{
    const raw::Published segment;
    const Message published = next(RSM_EVENT_PUBLISH);
    EXPECT_EQ(published.number(RSM_A_SEGMENT_ID), segment.id);
    EXPECT_EQ(published.number(RSM_A_SEGMENT_PID), static_cast<std::uint32_t>(getpid()));
    EXPECT_FALSE(published.has(RSM_A_SEGMENT_REASON));
    {
        const Fd handle = raw::open_segment();
        ASSERT_EQ(raw::connect(handle.get(), segment.id), success);
        const Message connected = next(RSM_EVENT_CONNECT);
        EXPECT_EQ(connected.number(RSM_A_IMPORT_ID), segment.id);
        EXPECT_EQ(connected.number(RSM_A_IMPORT_EXPORTER),
                  published.number(RSM_A_SEGMENT_NUMBER));
    }
    const Message closed = next(RSM_EVENT_DISCONNECT);
    EXPECT_EQ(closed.number(RSM_A_IMPORT_REASON), RSM_REASON_ASKED);
    EXPECT_EQ(closed.number(RSM_A_IMPORT_ABORTED), 0U);
    ASSERT_EQ(raw::unpublish(segment.handle.get()), success);
    const Message unpublished = next(RSM_EVENT_UNPUBLISH);
    EXPECT_EQ(unpublished.number(RSM_A_SEGMENT_ID), segment.id);
    EXPECT_EQ(unpublished.number(RSM_A_SEGMENT_REASON), RSM_REASON_ASKED);
    expect_no_event();
}

TEST_F(NetlinkEvents, reasons)
{
    const auto end = [&](std::uint64_t exporters, std::uint64_t importers, auto &&how) {
        raw::Published segment;
        Fd handle = raw::open_segment();
        ASSERT_EQ(raw::connect(handle.get(), segment.id), success);
        next(RSM_EVENT_PUBLISH);
        next(RSM_EVENT_CONNECT);
        how(segment);
        const Message aborted = next(RSM_EVENT_DISCONNECT);
        EXPECT_EQ(aborted.number(RSM_A_IMPORT_REASON), importers);
        EXPECT_EQ(aborted.number(RSM_A_IMPORT_ABORTED), 1U);
        EXPECT_EQ(next(RSM_EVENT_UNPUBLISH).number(RSM_A_SEGMENT_REASON), exporters);
        handle.reset();
        expect_no_event(); // one disconnect for each connect
    };
    end(RSM_REASON_ASKED, RSM_REASON_EXPORTER,
        [](raw::Published &segment) { raw::unpublish(segment.handle.get()); });
    end(RSM_REASON_ASKED, RSM_REASON_EXPORTER,
        [](raw::Published &segment) { segment.handle.reset(); });
    end(RSM_REASON_RANGE_GONE, RSM_REASON_EXPORTER,
        [](raw::Published &segment) { segment.memory.release(); });
    end(RSM_REASON_REVOKED, RSM_REASON_REVOKED, [](raw::Published &segment) {
        Client client;
        client.ask(Request(RSM_CMD_SEGMENT_REVOKE).put(RSM_A_SEGMENT_ID, segment.id));
    });
}

TEST_F(NetlinkEvents, a_refused_pin_names_its_limit)
{
    Child child(alice(), [](Link &) { pin_too_much(5); });
    const auto pid = static_cast<std::uint32_t>(child.pid());
    child.expect_success();
    const Message hit = next(RSM_EVENT_LIMIT_HIT);
    EXPECT_EQ(hit.number(RSM_A_LIMIT_KIND), RSM_LIMIT_MEMLOCK);
    EXPECT_EQ(hit.number(RSM_A_LIMIT_WANTED), 5 * page_size());
    EXPECT_EQ(hit.number(RSM_A_LIMIT_VALUE), 4 * page_size());
    EXPECT_EQ(hit.number(RSM_A_LIMIT_PID), pid);
    EXPECT_EQ(hit.number(RSM_A_LIMIT_UID), alice().uid);
    Client client;
    const auto stats = client.ask(Request(RSM_CMD_STATS_GET));
    EXPECT_EQ(stats.one().nested(RSM_A_STATS_LIMIT, RSM_A_LIMIT_HITS).at(RSM_LIMIT_MEMLOCK),
              hit.number(RSM_A_LIMIT_HITS));
}

TEST_F(NetlinkEvents, a_denied_connect_names_user_and_segment)
{
    const raw::Published segment;
    next(RSM_EVENT_PUBLISH);
    const rsm_acl_entry owner_only{raw::local_node(), 0600};
    ASSERT_EQ(raw::republish(segment.handle.get(), {&owner_only, 1}), success);
    Client client;
    const auto denials = [&] {
        return client.ask(Request(RSM_CMD_STATS_GET)).one().number(RSM_A_STATS_DENIALS);
    };
    const auto before = denials();
    Child child(alice(), [&](Link &) {
        const Fd handle = raw::open_segment();
        EXPECT_EQ(raw::connect(handle.get(), segment.id, RSM_PERM_READ),
                  raw::status(RSMERR_PERM_DENIED));
        EXPECT_EQ(raw::connect(handle.get(), segment.id + 1),
                  raw::status(RSMERR_SEG_NOT_PUBLISHED));
    });
    const auto pid = static_cast<std::uint32_t>(child.pid());
    child.expect_success();
    const Message denied = next(RSM_EVENT_DENIED);
    EXPECT_EQ(denied.number(RSM_A_DENIAL_KIND), RSM_DENIAL_USER);
    EXPECT_EQ(denied.text(RSM_A_DENIAL_CONTROLLER), "loopback");
    EXPECT_EQ(denied.number(RSM_A_DENIAL_NODE_ID), raw::local_node());
    EXPECT_EQ(denied.number(RSM_A_DENIAL_ID), segment.id);
    EXPECT_EQ(denied.number(RSM_A_DENIAL_IMPORTER_NODE_ID), raw::local_node());
    EXPECT_EQ(denied.number(RSM_A_DENIAL_RIGHTS), RSM_PERM_READ);
    EXPECT_EQ(denied.number(RSM_A_DENIAL_UID), alice().uid);
    EXPECT_EQ(denied.number(RSM_A_DENIAL_PID), pid);
    expect_no_event(); // nobody has denied a segment that does not exist
    EXPECT_EQ(denials(), before + 1);
}

TEST_F(NetlinkEvents, limits_of_the_node)
{
    ModuleParameter segments("max_segments");
    ASSERT_TRUE(segments.set("1"));
    const Fd first = raw::open_segment();
    EXPECT_FALSE(raw::open_segment().valid());
    Message hit = next(RSM_EVENT_LIMIT_HIT);
    EXPECT_EQ(hit.number(RSM_A_LIMIT_KIND), RSM_LIMIT_SEGMENTS);
    EXPECT_EQ(hit.number(RSM_A_LIMIT_VALUE), 1U);

    ModuleParameter memory("max_exported_memory");
    ASSERT_TRUE(memory.set("1"));
    Pages above(memory_info("MemTotal") / page_size() / 50);
    EXPECT_EQ(raw::bind(first.get(), above.data(), above.size()),
              raw::status(RSMERR_INSUFFICIENT_MEM));
    hit = next(RSM_EVENT_LIMIT_HIT);
    EXPECT_EQ(hit.number(RSM_A_LIMIT_KIND), RSM_LIMIT_EXPORTED_MEMORY);
    EXPECT_EQ(hit.number(RSM_A_LIMIT_WANTED), above.size());
}

TEST_F(NetlinkEvents, who_has_no_room_is_told_and_the_others_go_on)
{
    listener.limit_buffer(1);
    for (int i = 0; i < 200; i++) {
        const raw::Published segment;
        ASSERT_TRUE(segment.ok);
    }
    char byte = 0;
    EXPECT_EQ(recv(listener.descriptor(), &byte, 1, MSG_DONTWAIT | MSG_TRUNC), -1);
    EXPECT_EQ(errno, ENOBUFS);
}
