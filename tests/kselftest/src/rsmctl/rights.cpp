// SPDX-License-Identifier: GPL-2.0
// Rights of users of rsmctl.
#include "rsmctl/program.hpp"
#include "support/loopback.hpp"

#include <unistd.h>

using namespace rsmtest;

namespace {

using RsmctlRights = PublishedTest;

void expect_denied(const Outcome &outcome)
{
    EXPECT_EQ(outcome.status, 1);
    EXPECT_NE(outcome.err.find("Operation not permitted"), std::string::npos) << outcome.err;
    EXPECT_EQ(outcome.out, "");
}

} // namespace

TEST_F(RsmctlRights, everybody_sees_what_it_may_connect_to)
{
    const auto segment = find(rsmctl_json({"segment"}, alice()), "id", seg.id());
    ASSERT_TRUE(segment.is_object());
    EXPECT_EQ(segment["length"], memory.size());
    for (const char *key : {"pid", "importers", "pinned_bytes", "flags", "put_bytes"})
        EXPECT_FALSE(segment.contains(key)) << key;
    EXPECT_EQ(rsmctl_json({"show", std::to_string(seg.id())}, alice())["imports"], Json::array());
}

TEST_F(RsmctlRights, nobody_sees_what_is_closed_to_it)
{
    Pages pages(1);
    ExportSegment closed(ctl, pages);
    ASSERT_EQ(closed.publish(0, {{local_node(), 0600}}), RSM_SUCCESS);
    EXPECT_TRUE(find(rsmctl_json({"segment"}), "id", closed.id()).is_object());
    EXPECT_TRUE(find(rsmctl_json({"segment"}, alice()), "id", closed.id()).is_null());
    const auto outcome = rsmctl({"segment", "show", std::to_string(closed.id())}, alice());
    EXPECT_EQ(outcome.status, 1);
    EXPECT_NE(outcome.err.find("No such file"), std::string::npos) << outcome.err;
}

TEST_F(RsmctlRights, everybody_sees_its_own)
{
    Child owner(alice(), [](Link &link) {
        Controller controller;
        Pages pages(1);
        ExportSegment own(controller, pages);
        ASSERT_EQ(own.publish(0, {{local_node(), 0600}}), RSM_SUCCESS);
        link.send(own.id());
        link.receive();
    });
    const auto id = owner.receive();
    const auto segment = find(rsmctl_json({"segment"}, alice()), "id", id);
    EXPECT_EQ(segment.value("pid", 0), owner.pid());
    EXPECT_TRUE(find(rsmctl_json({"process"}, alice()), "pid", owner.pid()).is_object());
    EXPECT_TRUE(find(rsmctl_json({"process"}, bob()), "pid", owner.pid()).is_null());
    owner.send();
    owner.expect_success();
}

TEST_F(RsmctlRights, everybody_sees_controllers_nodes_and_stats)
{
    EXPECT_TRUE(find(rsmctl_json({"controller"}, bob()), "name", "loopback").is_object());
    EXPECT_TRUE(rsmctl_json({"node"}, bob()).is_array());
    EXPECT_TRUE(rsmctl_json({"stats"}, bob()).contains("handles"));
}

TEST_F(RsmctlRights, changes_and_events_are_for_administrators)
{
    expect_denied(rsmctl({"segment", "revoke", std::to_string(seg.id())}, alice()));
    expect_denied(rsmctl({"node", "add", "9", "10.0.0.9", "-c", "loopback"}, alice()));
    expect_denied(rsmctl({"node", "set", "9", "10.0.0.9", "-c", "loopback"}, alice()));
    expect_denied(rsmctl({"node", "del", "9", "-c", "loopback"}, alice()));
    expect_denied(rsmctl({"monitor"}, alice()));
    const ImportSegment import(ctl, seg.id());
    EXPECT_EQ(import.status(), RSM_SUCCESS) << "it was not revoked";
}
