// SPDX-License-Identifier: GPL-2.0
// Changes that an administrator makes with rsmctl, and events that it shows as they happen.
#include "rsmctl/program.hpp"
#include "support/loopback.hpp"
#include "support/raw.hpp"

#include <sys/resource.h>
#include <unistd.h>

using namespace rsmtest;

namespace {

using RsmctlChanges = PublishedTest;
using RsmctlMonitor = LoopbackTest;

} // namespace

TEST_F(RsmctlChanges, a_segment_is_revoked)
{
    ImportSegment import(ctl, seg.id());
    ASSERT_EQ(import.init_barrier(), RSM_SUCCESS);
    ASSERT_EQ(import.put64(0, 1), RSM_SUCCESS);
    const auto id = std::to_string(seg.id());
    const auto outcome = rsmctl({"segment", "revoke", id});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(outcome.out + outcome.err, "");
    EXPECT_EQ(import.put64(0, 2), RSMERR_CONN_ABORTED);
    EXPECT_EQ(rsmctl({"segment", "revoke", id}).status, 1) << "its id is free";
}

TEST_F(RsmctlChanges, a_segment_is_revoked_by_its_number)
{
    const auto number = rsmctl_json({"show", std::to_string(seg.id())})["number"].get<int>();
    EXPECT_EQ(rsmctl({"segment", "revoke", "--number", std::to_string(number)}).status, 0);
    const auto dead = rsmctl_json({"segment", "show", "--number", std::to_string(number)});
    EXPECT_EQ(dead["state"], "dead");
    EXPECT_EQ(dead["reason"], "revoked");
}

TEST_F(RsmctlChanges, loopback_has_no_nodes_to_change)
{
    for (const auto &words : {Words{"node", "add", "9", "10.0.0.9"},
                              {"node", "set", "9", "::9"},
                              {"node", "del", "9"}}) {
        auto with_controller = words;
        with_controller.insert(with_controller.end(), {"--controller", "loopback"});
        const auto outcome = rsmctl(with_controller);
        EXPECT_EQ(outcome.status, 1);
        EXPECT_EQ(outcome.err.find("rsmctl: loopback: node 9: The controller's interconnect"), 0U)
            << outcome.err;
        EXPECT_EQ(rsmctl(words).err, "rsmctl: no controller takes nodes: for rdma0, modprobe rsm_rdma\n");
    }
}

TEST_F(RsmctlMonitor, tells_of_the_life_of_a_segment)
{
    Program monitor({"monitor", "-j"});
    hear_start(monitor);
    Pages pages(1);
    ExportSegment segment(ctl, pages);
    ASSERT_EQ(segment.publish(), RSM_SUCCESS);
    EXPECT_EQ(next_event(monitor, "publish", "id", segment.id())["pid"], getpid());
    ImportSegment import(ctl, segment.id());
    EXPECT_EQ(next_event(monitor, "connect", "id", segment.id())["rights"], "rw");
    EXPECT_EQ(import.disconnect(), RSM_SUCCESS);
    EXPECT_EQ(next_event(monitor, "disconnect", "id", segment.id())["reason"], "asked");
    EXPECT_EQ(segment.unpublish(), RSM_SUCCESS);
    EXPECT_EQ(next_event(monitor, "unpublish", "id", segment.id())["reason"], "asked");
}

TEST_F(RsmctlMonitor, tells_only_of_what_it_is_asked_for)
{
    Program monitor({"monitor", "unpublish"});
    ASSERT_TRUE(monitor.line().value_or("").ends_with(" start"));
    Pages pages(1);
    ExportSegment segment(ctl, pages);
    ASSERT_EQ(segment.publish(), RSM_SUCCESS);
    ASSERT_EQ(rsmctl({"segment", "revoke", std::to_string(segment.id())}).status, 0);
    const auto line = monitor.line().value_or("");
    EXPECT_NE(line.find(" unpublish id=0x"), std::string::npos) << line;
    EXPECT_NE(line.find(" reason=revoked"), std::string::npos) << line;
}

TEST_F(RsmctlMonitor, tells_whom_an_access_list_denies)
{
    Program monitor({"monitor", "denied", "--json"});
    hear_start(monitor);
    Pages pages(1);
    ExportSegment segment(ctl, pages);
    ASSERT_EQ(segment.publish(0, {{raw::local_node(), 0600}}), RSM_SUCCESS);
    Child stranger(alice(), [&](Link &) {
        const Controller controller;
        EXPECT_EQ(ImportSegment(controller, segment.id()).status(), RSMERR_PERM_DENIED);
    });
    const auto event = next_event(monitor, "denied", "pid", stranger.pid());
    EXPECT_EQ(event["kind"], "user");
    EXPECT_EQ(event["rights"], "rw");
    EXPECT_EQ(event["uid"], alice().uid);
    stranger.expect_success();
}

TEST_F(RsmctlMonitor, tells_which_limit_was_hit)
{
    Program monitor({"monitor", "limit-hit", "--json"});
    hear_start(monitor);
    Child poor(alice(), [](Link &) {
        const rlimit limit{page_size(), page_size()};
        ASSERT_EQ(setrlimit(RLIMIT_MEMLOCK, &limit), 0);
        Controller controller;
        Pages pages(4);
        const ExportSegment refused(controller, pages);
        EXPECT_EQ(refused.status(), RSMERR_INSUFFICIENT_MEM);
    });
    const auto pid = poor.pid();
    const auto event = next_event(monitor, "limit-hit", "pid", pid);
    EXPECT_EQ(event["kind"], "memlock");
    EXPECT_EQ(event["value"], page_size());
    EXPECT_EQ(event["uid"], alice().uid);
    poor.expect_success();
}
