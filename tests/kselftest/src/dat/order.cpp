// SPDX-License-Identifier: GPL-2.0
// The order of events of endpoints that share an EVD (udapl-functions.md 7.2): an effect does not
// come before its cause; and random programs of posts, which are held to all rules of the order
// (Documentation/libdat-order.md).
#include "dat/support/doomed.hpp"
#include "dat/support/programs.hpp"
#include "dat/support/side.hpp"
#include "support/child.hpp"

#include <gtest/gtest.h>
#include <utility>

using namespace rsmtest;
using namespace rsmtest::dat;

namespace {

// Two endpoints of one side share all its EVDs; each has a peer of its own.
class Order : public testing::Test {
protected:
    void SetUp() override
    {
        early.accept_from(here);
        DAT_EP_HANDLE other = DAT_HANDLE_NULL;
        EXPECT_OK(dat_ep_create(here.adapter, here.pz, here.receives, here.requests,
                                here.connections, nullptr, &other));
        std::swap(here.ep, other);
        late.accept_from(here);
        std::swap(here.ep, other);
        second = other;
    }
    void receive(DAT_EP_HANDLE ep, DAT_UINT64 id)
    {
        DAT_LMR_TRIPLET piece = here.memory.piece(0, 8);
        EXPECT_OK(dat_ep_post_recv(ep, 1, &piece, cookie(id), DAT_COMPLETION_DEFAULT_FLAG));
    }
    // Once this returns the sender has seen the completion, so what it does next is an effect.
    static void send_and_see(Side &from)
    {
        EXPECT_OK(from.send(0, 8, 1));
        expect_completion(from.requests, 1);
    }

    Side here;
    Side early; // the peer of here.ep
    Side late;  // the peer of `second`
    DAT_EP_HANDLE second = DAT_HANDLE_NULL;
};

TEST_F(Order, messages_are_dequeued_as_they_came_whichever_endpoint_took_them)
{
    for (int round = 0; round < 20; round++) {
        receive(here.ep, 1);
        receive(second, 2);
        send_and_see(round % 2 == 0 ? late : early);
        send_and_see(round % 2 == 0 ? early : late);
        expect_completion(here.receives, round % 2 == 0 ? 2 : 1);
        expect_completion(here.receives, round % 2 == 0 ? 1 : 2);
    }
}

// The messages of one that is freed do not take those of the other along.
TEST_F(Order, endpoints_that_share_an_evd_end_apart)
{
    receive(here.ep, 1);
    receive(second, 2);
    send_and_see(early);
    EXPECT_OK(dat_ep_disconnect(second, DAT_CLOSE_ABRUPT_FLAG));
    expect_completion(here.receives, 1);
    expect_completion(here.receives, 2, DAT_DTO_ERR_FLUSHED);
    expect_event(here.connections, DAT_CONNECTION_EVENT_DISCONNECTED);
    EXPECT_OK(dat_ep_free(second));
    receive(here.ep, 3);
    send_and_see(early);
    expect_completion(here.receives, 3);
}

// Work on an endpoint that is not connected completes at once: behind the messages that have come by then.
TEST_F(Order, work_of_a_dead_endpoint_is_flushed_behind_earlier_messages)
{
    EXPECT_OK(dat_ep_disconnect(second, DAT_CLOSE_ABRUPT_FLAG));
    expect_event(here.connections, DAT_CONNECTION_EVENT_DISCONNECTED);
    for (int round = 0; round < 20; round++) {
        receive(here.ep, 1);
        send_and_see(early);
        receive(second, 2);
        expect_completion(here.receives, 1);
        expect_completion(here.receives, 2, DAT_DTO_ERR_FLUSHED);
    }
}

// A device that finds no receive for the send repeats what is behind it, too.
TEST(OrderFences, fenced_requests_behind_a_send_that_waits_are_carried_out)
{
    Side here, there;
    there.accept_from(here);
    for (int round = 0; round < 20; round++) {
        EXPECT_OK(here.send(0, 8, 1));
        EXPECT_OK(here.read(64, there.memory.remote(0, 8), 2, DAT_COMPLETION_BARRIER_FENCE_FLAG));
        EXPECT_OK(here.write(0, there.memory.remote(8, 8), 3, DAT_COMPLETION_BARRIER_FENCE_FLAG));
        EXPECT_OK(here.read(72, there.memory.remote(0, 8), 4));
        EXPECT_OK(there.receive(128, 8, 5));
        expect_completion(there.receives, 5);
        for (DAT_UINT64 id = 1; id <= 4; id++)
            expect_completion(here.requests, id);
    }
}

TEST(OrderPrograms, two_processes_keep_the_rules)
{
    const Programs programs = Programs::chosen(10);
    Child other([&](Link &link) {
        Side talk;
        const ServicePoint service(talk);
        link.send(service.qualifier);
        service.accept();
        join_programs(talk, programs);
    });
    const std::uint64_t qualifier = other.receive();
    Side talk;
    ASSERT_OK(connect(talk, qualifier));
    expect_event(talk.connections, DAT_CONNECTION_EVENT_ESTABLISHED);
    check_programs(talk, programs);
    if (!HasFailure())
        other.expect_success();
}

} // namespace
