// SPDX-License-Identifier: GPL-2.0
#include <gtest/gtest.h>
#include <linux/rsm_netlink.h>

#include "monitor.hpp"
#include "message.hpp"

namespace rsmctl::test {

namespace {

using namespace std::chrono_literals;

constexpr Time noon(1700000000s + 1us);

Message node_down() {
    Message message(RSM_EVENT_NODE_DOWN);
    message.text(RSM_A_NODE_CONTROLLER, "rdma0").u32(RSM_A_NODE_NODE_ID, 2);
    message.text(RSM_A_NODE_REASON, "no heartbeat");
    return message;
}

} // namespace

TEST(RsmctlMonitor, WritesALineForPeople) {
    EXPECT_EQ(event_line(node_down().header(), noon, {}),
              "2023-11-14T22:13:20.000001Z node-down node_id=2 controller=rdma0 "
              "reason=no heartbeat\n");
}

TEST(RsmctlMonitor, WritesALineOfJson) {
    Options options;
    options.json = true;
    EXPECT_EQ(event_line(node_down().header(), noon, options),
              R"({"time":"2023-11-14T22:13:20.000001Z","event":"node-down","node_id":2,)"
              R"("controller":"rdma0","reason":"no heartbeat"})"
              "\n");
}

TEST(RsmctlMonitor, WritesOnlyWhatIsAskedFor) {
    Options options;
    options.events = {"publish"};
    EXPECT_EQ(event_line(node_down().header(), noon, options), std::nullopt);
    options.events.emplace_back("node-down");
    EXPECT_NE(event_line(node_down().header(), noon, options), std::nullopt);
}

TEST(RsmctlMonitor, WritesOnlyWhatItKnows) {
    EXPECT_EQ(event_line(Message(RSM_CMD_SEGMENT_GET).header(), noon, {}), std::nullopt);
    EXPECT_EQ(event_line(Message(250).header(), noon, {}), std::nullopt);
    Message cut(RSM_EVENT_PUBLISH);
    cut.header().nlmsg_len = NLMSG_HDRLEN;
    EXPECT_EQ(event_line(cut.header(), noon, {}), std::nullopt);
}

TEST(RsmctlMonitor, TellsWhatHappensToItself) {
    EXPECT_EQ(note_line("lost", noon, false), "2023-11-14T22:13:20.000001Z lost\n");
    EXPECT_EQ(note_line("lost", noon, true),
              "{\"time\":\"2023-11-14T22:13:20.000001Z\",\"event\":\"lost\"}\n");
}

} // namespace rsmctl::test
