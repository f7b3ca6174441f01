// SPDX-License-Identifier: GPL-2.0
// What passes between this node and one that the test plays.
#include "interconnects/node.hpp"
#include "interconnects/testctl.hpp"
#include "support/raw.hpp"

#include <thread>
#include <vector>

using namespace rsmtest;

namespace {

constexpr std::uint32_t segment = 77;
constexpr std::uint32_t handle = 9;

class Nodes : public testing::Test {
protected:
    void SetUp() override { ASSERT_TRUE(module.loaded()); }
    TestControllers module;
};

struct NodesExport {
    explicit NodesExport(std::vector<rsm_acl_entry> list)
    {
        auto argument = raw::bind_argument(memory.data(), memory.size(), 0, -1, "nodes0");
        EXPECT_EQ(raw::call(fd.get(), RSM_IOC_BIND, argument), raw::success);
        EXPECT_EQ(raw::publish(fd.get(), id, list), raw::success);
    }
    Pages memory{1};
    Fd fd = raw::open_segment();
    std::uint32_t id = 0;
};

// A connect of this process to segment 77 of the node, which goes on until it has an answer.
class Connecting {
public:
    explicit Connecting(const TestNode &node)
        : argument_(raw::connect_argument(segment, RSM_PERM_READ, -1, "nodes0")),
          thread_([this, id = node.id()] {
              argument_.node = id;
              outcome_ = raw::call(fd.get(), RSM_IOC_CONNECT, argument_);
          })
    {
    }
    ~Connecting()
    {
        if (thread_.joinable())
            thread_.join();
    }
    Connecting(const Connecting &) = delete;
    Connecting &operator=(const Connecting &) = delete;
    raw::Outcome outcome()
    {
        thread_.join();
        return outcome_;
    }
    Fd fd = raw::open_segment();

private:
    rsm_connect argument_;
    raw::Outcome outcome_;
    std::thread thread_;
};

// Plays the exporter's part of a connect; the cookie by which the importer knows it.
std::uint32_t admit(TestNode &node, std::uint32_t mode)
{
    const auto request = node.next();
    if (!request || request->type() != RSM_MSG_CONNECT)
        return 0;
    auto answer = node.make<rsm_msg_connected>(RSM_MSG_CONNECTED);
    answer.cookie = request->as<rsm_msg_connect>().cookie;
    answer.handle = handle;
    answer.mode = mode;
    answer.uid = 4711;
    answer.gid = 4711;
    answer.length = page_size();
    answer.place[0] = good_place;
    return node.send(Message(answer)) ? answer.cookie : 0;
}

// All that was sent before has been handled: what nobody knows is answered by DISCONNECT, in turn.
void catch_up(TestNode &node)
{
    ASSERT_TRUE(node.tell(RSM_MSG_UNPUBLISH, 0x7f00, 0x7f00));
    const auto answer = node.next();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->type(), RSM_MSG_DISCONNECT);
    EXPECT_EQ(answer->as<rsm_msg_connection>().cookie, 0x7f00u);
}

} // namespace

// N13: a CONNECT that came so early was dropped, and the importer asked again after a heartbeat.
TEST_F(Nodes, message_right_behind_the_greeting_is_answered)
{
    NodesExport exported({{first_node, 0600}});
    for (int round = 0; round < 20; round++) {
        ASSERT_TRUE(write_text("/sys/module/rsm_testctl/parameters/early_connect",
                               std::to_string(exported.id)));
        TestNode node(0);
        ASSERT_TRUE(node.valid());
        ASSERT_TRUE(node.connect(exported.id, 2));
        for (std::uint32_t cookie = 1; cookie <= 2; cookie++) {
            const auto answer = node.next();
            ASSERT_TRUE(answer);
            ASSERT_EQ(answer->type(), RSM_MSG_CONNECTED);
            ASSERT_EQ(answer->as<rsm_msg_connected>().cookie, cookie);
        }
    }
}

// N8, the exporter: a node that the list names no more is told so, and not that it has mode 0.
TEST_F(Nodes, republish_tells_a_node_that_it_is_not_listed)
{
    NodesExport exported({{first_node, 0640}});
    TestNode node(0);
    ASSERT_NE(node.import(exported.id, 1), 0u);
    const auto told = [&](const rsm_acl_entry &entry) {
        EXPECT_EQ(raw::republish(exported.fd.get(), {&entry, 1}), raw::success);
        const auto message = node.next();
        EXPECT_TRUE(message && message->type() == RSM_MSG_REPUBLISH);
        return message ? message->as<rsm_msg_connection>().value : ~0u;
    };
    EXPECT_EQ(told({first_node + 1, 0666}), RSM_MODE_CLOSED);
    EXPECT_EQ(told({first_node, 0}), 0u);
    EXPECT_EQ(told({first_node, 0444}), 0444u);
}

// N8, the importer: root used to be let in while an older connection lived.
TEST_F(Nodes, closed_segment_admits_nobody)
{
    TestNode node(0);
    ASSERT_TRUE(node.valid());
    Connecting first(node);
    const std::uint32_t cookie = admit(node, 0);
    ASSERT_NE(cookie, 0u);
    ASSERT_EQ(first.outcome(), raw::success) << "CAP_IPC_OWNER goes before the mode";

    ASSERT_TRUE(node.tell(RSM_MSG_REPUBLISH, cookie, handle, RSM_MODE_CLOSED));
    catch_up(node);
    EXPECT_EQ(Connecting(node).outcome(), raw::status(RSMERR_SEG_NOT_PUBLISHED_TO_NODE));
    ASSERT_TRUE(node.tell(RSM_MSG_REPUBLISH, cookie, handle, 0));
    catch_up(node);
    EXPECT_EQ(Connecting(node).outcome(), raw::success);
    EXPECT_EQ(raw::post(first.fd.get()), raw::success) << "its connection went on";
}
