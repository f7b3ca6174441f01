// SPDX-License-Identifier: GPL-2.0
// A node that does not go on delays nobody else who uses the same adapter.
#include "dat/support/doomed.hpp"
#include "dat/support/waiter.hpp"
#include "interconnects/scene.hpp"
#include "interconnects/testctl.hpp"

#include "connect/listener.h"

#include <arpa/inet.h>
#include <atomic>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <gtest/gtest.h>
#include <pthread.h>
#include <thread>
#include <unistd.h>

using namespace rsmtest;
using namespace rsmtest::dat;

namespace {

constexpr const char *address_of_node = "192.0.2.10";
constexpr std::uint64_t good_connection = 0x77;

// Everybody who attaches memory of a node of nodes0 waits as long as this exists.
class Hold {
public:
    Hold() { EXPECT_TRUE(set_parameter("hold_attach", "1")); }
    ~Hold() { EXPECT_TRUE(set_parameter("hold_attach", "0")); }
    Hold(const Hold &) = delete;
    Hold &operator=(const Hold &) = delete;
};

class RsmDeadNode : public testing::Test {
protected:
    // The adapter reaches nodes that the test plays.
    void SetUp() override
    {
        ASSERT_TRUE(module.loaded());
        ASSERT_TRUE(node.emplace(0).valid());
        ASSERT_TRUE(std::ofstream(nodes) << node->id() << ' ' << address_of_node << '\n'
                                         << std::flush);
        ASSERT_TRUE(std::ofstream(conf)
                    << "dead0 u1.2 threadsafe default libdaplrsm.so.1 rsm.1.0 \"controller=nodes0 nodes="
                    << nodes << "\" \"\"\n"
                    << std::flush);
        ASSERT_EQ(setenv("DAT_OVERRIDE", conf.c_str(), 1), 0);
        ASSERT_EQ(setenv("RSM_DAT_IA", "dead0", 1), 0);
    }
    void TearDown() override
    {
        unlink(conf.c_str());
        unlink(nodes.c_str());
    }

    static DAT_EP_HANDLE make_ep(const Side &side, DAT_EVD_HANDLE connections)
    {
        DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
        EXPECT_OK(dat_ep_create(side.adapter, side.pz, side.receives, side.requests, connections,
                                nullptr, &ep));
        return ep;
    }
    static void connect_to_node(DAT_EP_HANDLE ep)
    {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        ASSERT_EQ(inet_pton(AF_INET, address_of_node, &address.sin_addr), 1);
        EXPECT_OK(dat_ep_connect(ep, reinterpret_cast<DAT_IA_ADDRESS_PTR>(&address), 7,
                                 DAT_TIMEOUT_INFINITE, 0, nullptr, DAT_QOS_BEST_EFFORT,
                                 DAT_CONNECT_DEFAULT_FLAG));
    }
    // The node answers the next request for a connection to a segment.
    void answer(std::uint32_t status) const
    {
        const auto request = node->next();
        ASSERT_TRUE(request);
        ASSERT_EQ(request->type(), unsigned{RSM_MSG_CONNECT});
        auto answer = node->make<rsm_msg_connected>(RSM_MSG_CONNECTED);
        answer.cookie = request->as<rsm_msg_connect>().cookie;
        answer.status = status;
        if (status == RSM_SUCCESS) {
            answer.handle = good_connection;
            answer.mode = 0666;
            answer.length = page_size();
            answer.place[0] = good_place;
        }
        ASSERT_TRUE(node->send(Message(answer)));
    }

    TestControllers module;
    mutable std::optional<TestNode> node;
    const std::string conf = "/tmp/dead-node.conf." + std::to_string(getpid());
    const std::string nodes = "/tmp/dead-node.nodes." + std::to_string(getpid());
};

// A thread sleeps until a message has come; the engine has to wake it.
void exchange(const Side &from, const Side &to, DAT_UINT64 id)
{
    EXPECT_OK(to.receive(0, 64, id));
    EvdWaiter waiter(to.receives, DAT_TIMEOUT_INFINITE);
    EXPECT_TRUE(waiter.waits());
    EXPECT_OK(from.send(0, 64, id));
    EXPECT_EQ(waiter.result(), Result(DAT_SUCCESS));
    EXPECT_EQ(waiter.event.event_data.dto_completion_event_data.user_cookie.as_64, id);
    expect_completion(from.requests, id);
}

} // namespace

TEST_F(RsmDeadNode, delays_nobody)
{
    Side one, other;
    other.accept_from(one);
    const DAT_EVD_HANDLE lost = one.adapter.make_evd(DAT_EVD_CONNECTION_FLAG);
    const DAT_EP_HANDLE ep = make_ep(one, lost);
    {
        const Hold hold;
        connect_to_node(ep);
        answer(RSM_SUCCESS);
        await_held();
        exchange(other, one, 1);
        exchange(one, other, 2);
        // A request for a connection, and its answer, by the same engine.
        EXPECT_OK(dat_ep_free(one.ep));
        expect_event(other.connections, DAT_CONNECTION_EVENT_DISCONNECTED);
        EXPECT_OK(dat_ep_reset(other.ep));
        one.ep = make_ep(one, one.connections);
        other.accept_from(one);
        exchange(other, one, 3);
        EXPECT_EQ(state_of(ep), DAT_EP_STATE_ACTIVE_CONNECTION_PENDING);
    }
    node.reset();
    const DAT_EVENT event = next_event(lost);
    EXPECT_TRUE(event.event_number == DAT_CONNECTION_EVENT_UNREACHABLE ||
                event.event_number == DAT_CONNECTION_EVENT_NON_PEER_REJECTED)
        << std::hex << event.event_number;
    EXPECT_EQ(state_of(ep), DAT_EP_STATE_DISCONNECTED);
}

// A service point that ends tells the node that has read its label, and waits for the answer.
TEST_F(RsmDeadNode, that_knows_a_service_point_delays_its_end_only)
{
    node.reset();
    std::deque<TestNode> played;
    play(played, 1, [&] {
        TestNode &importer = played[0];
        Side one, other;
        other.accept_from(one);
        DAT_CONN_QUAL qualifier = 0;
        DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
        ASSERT_OK(dat_psp_create_any(one.adapter, &qualifier, one.arrivals, DAT_PSP_CONSUMER_FLAG, &psp));
        const std::uint32_t handle = importer.import(rsmengine::label_id(qualifier), 1);
        ASSERT_NE(handle, 0U);
        std::atomic<bool> freed = false;
        std::thread thread([&] {
            EXPECT_OK(dat_psp_free(psp));
            freed = true;
        });
        const auto request = importer.next();
        EXPECT_TRUE(request && request->type() == RSM_MSG_UNPUBLISH);
        // The call is no cancellation point.
        EXPECT_EQ(pthread_cancel(thread.native_handle()), 0);
        exchange(other, one, 1);
        EXPECT_FALSE(freed);
        EXPECT_TRUE(importer.send_connection(RSM_MSG_DISCONNECT, 1, handle));
        thread.join();
        EXPECT_TRUE(freed);
    });
}

// A server that begins to listen there a moment later is found.
TEST_F(RsmDeadNode, is_asked_again_when_nobody_listens_there)
{
    Side side;
    connect_to_node(side.ep);
    for (int times = 0; times < 3; times++) {
        answer(RSMERR_SEG_NOT_PUBLISHED);
        ASSERT_FALSE(HasFatalFailure());
        EXPECT_EQ(state_of(side.ep), DAT_EP_STATE_ACTIVE_CONNECTION_PENDING);
    }
    EXPECT_OK(dat_ep_disconnect(side.ep, DAT_CLOSE_ABRUPT_FLAG));
    expect_event(side.connections, DAT_CONNECTION_EVENT_DISCONNECTED);
}
