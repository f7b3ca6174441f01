// SPDX-License-Identifier: GPL-2.0
// Unsignalled, solicited, fenced: which completions wake a waiter (udapl-functions.md 6.3, 7.3),
// and shared receive queues with their watermarks (section 9).
#include "dat/support/side.hpp"
#include "dat/support/waiter.hpp"

#include <cstring>
#include <gtest/gtest.h>

using namespace rsmtest;
using namespace rsmtest::dat;

namespace {

DAT_EP_ATTR attributes_with(DAT_COMPLETION_FLAGS receives, DAT_COMPLETION_FLAGS requests)
{
    const Adapter probe;
    DAT_EP_ATTR attributes = default_attributes(probe);
    attributes.recv_completion_flags = receives;
    attributes.request_completion_flags = requests;
    return attributes;
}

class Shared : public testing::Test {
protected:
    void SetUp() override
    {
        DAT_SRQ_ATTR queue{
            .max_recv_dtos = 8, .max_recv_iov = 2, .low_watermark = DAT_SRQ_LW_DEFAULT};
        ASSERT_OK(dat_srq_create(b.adapter, b.pz, &queue, &srq));
        ASSERT_OK(dat_ep_free(b.ep));
        make_endpoint_of_b();
    }
    // It shares the queue and the EVDs with those before.
    void make_endpoint_of_b()
    {
        DAT_EP_ATTR attributes = default_attributes(b.adapter);
        attributes.max_recv_dtos = attributes.srq_soft_hw = DAT_HW_DEFAULT;
        ASSERT_OK(dat_ep_create_with_srq(b.adapter, b.pz, b.receives, b.requests, b.connections,
                                         srq, &attributes, &b.ep));
    }
    DAT_RETURN post(std::size_t offset, DAT_UINT64 id)
    {
        DAT_LMR_TRIPLET piece = b.memory.piece(offset, 100);
        return dat_srq_post_recv(srq, 1, &piece, cookie(id));
    }
    DAT_SRQ_PARAM query()
    {
        DAT_SRQ_PARAM param{};
        EXPECT_OK(dat_srq_query(srq, DAT_SRQ_FIELD_ALL, &param));
        return param;
    }

    Side a;
    Side b;
    DAT_SRQ_HANDLE srq = DAT_HANDLE_NULL;
};

} // namespace

TEST(Flags, unsignalled_requests_do_not_wake)
{
    const DAT_EP_ATTR attributes =
        attributes_with(DAT_COMPLETION_EVD_THRESHOLD_FLAG, DAT_COMPLETION_UNSIGNALLED_FLAG);
    Side a(&attributes);
    Side b;
    b.accept_from(a);
    EXPECT_OK(a.write(0, b.memory.remote(0, 8), 0)); // opens the way
    expect_completion(a.requests, 0);
    EvdWaiter waiter(a.requests, DAT_TIMEOUT_INFINITE);
    ASSERT_TRUE(waiter.waits());
    EXPECT_OK(a.write(0, b.memory.remote(0, 8), 1, DAT_COMPLETION_UNSIGNALLED_FLAG));
    await_no_requests(a.ep);
    EXPECT_TRUE(waiter.waits());
    EXPECT_OK(a.write(0, b.memory.remote(0, 8), 2));
    EXPECT_EQ(waiter.result(), Result{DAT_SUCCESS});
    EXPECT_EQ(waiter.more, 1) << "the waiter was woken before";
    EXPECT_EQ(waiter.event.event_data.dto_completion_event_data.user_cookie.as_64, 1U);
    expect_completion(a.requests, 2);
    EXPECT_OK(a.write(0, b.memory.remote(0, 8), 3));
    expect_completion(a.requests, 3);
}

TEST(Flags, solicited_wait_is_the_senders_choice)
{
    const DAT_EP_ATTR attributes =
        attributes_with(DAT_COMPLETION_SOLICITED_WAIT_FLAG, DAT_COMPLETION_EVD_THRESHOLD_FLAG);
    Side a;
    Side b(&attributes);
    b.accept_from(a);
    for (unsigned i = 0; i < 3; i++)
        EXPECT_OK(b.receive(0, 64, i));
    EvdWaiter waiter(b.receives, DAT_TIMEOUT_INFINITE);
    ASSERT_TRUE(waiter.waits());
    EXPECT_OK(a.send(0, 8, 1));
    // Over verbs a message may arrive before the engine of b sees it; then only the number of further events judges.
    expect_completion(a.requests, 1);
    EXPECT_TRUE(waiter.waits());
    EXPECT_OK(a.send(0, 8, 2, DAT_COMPLETION_SOLICITED_WAIT_FLAG));
    EXPECT_EQ(waiter.result(), Result{DAT_SUCCESS});
    EXPECT_EQ(waiter.more, 1) << "the waiter was woken before";
    EXPECT_EQ(waiter.event.event_data.dto_completion_event_data.user_cookie.as_64, 0U);
    expect_completion(b.receives, 1);
    DAT_EVD_PARAM evd{};
    EXPECT_OK(dat_evd_query(b.receives, DAT_EVD_FIELD_EVD_STATE, &evd));
    EXPECT_TRUE(evd.evd_state & DAT_EVD_STATE_CONFIG_SOLICITED);
}

TEST(Flags, errors_always_wake)
{
    const DAT_EP_ATTR attributes =
        attributes_with(DAT_COMPLETION_SOLICITED_WAIT_FLAG, DAT_COMPLETION_UNSIGNALLED_FLAG);
    Side a;
    Side b(&attributes);
    b.accept_from(a);
    EXPECT_OK(b.receive(0, 64, 1));
    EvdWaiter waiter(b.receives, DAT_TIMEOUT_INFINITE);
    ASSERT_TRUE(waiter.waits());
    EXPECT_OK(dat_ep_disconnect(a.ep, DAT_CLOSE_ABRUPT_FLAG));
    EXPECT_EQ(waiter.result(), Result{DAT_SUCCESS});
}

TEST(Flags, fence_waits_for_reads)
{
    Side a;
    Side b;
    b.accept_from(a);
    std::memset(b.memory.start, 1, 30000);
    for (unsigned i = 0; i < 50; i++) {
        EXPECT_OK(b.receive(40000, 8, i));
        EXPECT_OK(a.read(0, b.memory.remote(0, 30000), 1));
        EXPECT_OK(a.send(29992, 8, 2, DAT_COMPLETION_BARRIER_FENCE_FLAG));
        expect_completion(b.receives, i);
        EXPECT_EQ(b.memory.start[40007], std::byte{1});
        expect_completion(a.requests, 1);
        expect_completion(a.requests, 2);
    }
}

TEST(Flags, streams_that_may_not_share_an_evd)
{
    const DAT_EP_ATTR unsignalled =
        attributes_with(DAT_COMPLETION_EVD_THRESHOLD_FLAG, DAT_COMPLETION_UNSIGNALLED_FLAG);
    const Side side;
    DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
    const DAT_EVD_HANDLE all =
        side.adapter.make_evd(DAT_EVD_DTO_FLAG | DAT_EVD_CONNECTION_FLAG | DAT_EVD_RMR_BIND_FLAG);
    EXPECT_DAT(bad_argument(6),
               dat_ep_create(side.adapter, side.pz, side.receives, all, all, &unsignalled, &ep));
    EXPECT_OK(dat_ep_create(side.adapter, side.pz, side.receives, side.requests, side.connections,
                            &unsignalled, &ep)); // beside the signalled requests of side.ep
    EXPECT_OK(dat_ep_free(ep));
}

TEST_F(Shared, receives_go_to_whoever_needs_them)
{
    EXPECT_OK(post(0, 1));
    EXPECT_OK(post(1000, 2));
    EXPECT_EQ(query().available_dto_count, 2);
    b.accept_from(a);
    EXPECT_DAT(bad_state(), b.receive(0, 8, 9));
    std::memset(a.memory.start, 7, 100);
    EXPECT_OK(a.send(0, 100, 1));
    const DAT_EVENT event = expect_event(b.receives, DAT_DTO_COMPLETION_EVENT);
    EXPECT_EQ(event.event_data.dto_completion_event_data.ep_handle, b.ep);
    EXPECT_EQ(event.event_data.dto_completion_event_data.user_cookie.as_64, 1U);
    EXPECT_EQ(b.memory.start[99], std::byte{7});
    expect_completion(a.requests, 1);
    EXPECT_EQ(query().available_dto_count, 1);
    EXPECT_EQ(query().outstanding_dto_count, 1);
    // The rest stays in the queue when the connection ends: the next completion is that of a
    // message to another endpoint.
    EXPECT_OK(dat_ep_disconnect(a.ep, DAT_CLOSE_ABRUPT_FLAG));
    expect_event(a.connections, DAT_CONNECTION_EVENT_DISCONNECTED);
    expect_event(b.connections, DAT_CONNECTION_EVENT_DISCONNECTED);
    EXPECT_EQ(query().available_dto_count, 1);
    EXPECT_OK(dat_ep_reset(a.ep));
    make_endpoint_of_b();
    b.accept_from(a);
    EXPECT_OK(a.send(0, 100, 2));
    expect_completion(b.receives, 2);
}

TEST_F(Shared, a_message_waits_for_a_buffer)
{
    b.accept_from(a);
    EXPECT_OK(a.send(0, 8, 1));
    // The provider looks for messages to b before it completes requests of b.
    EXPECT_OK(a.receive(100, 8, 2));
    EXPECT_OK(b.send(0, 8, 3));
    expect_completion(a.receives, 2);
    expect_completion(b.requests, 3);
    expect_no_event(a.requests);
    EXPECT_OK(post(0, 5));
    expect_completion(b.receives, 5);
    expect_completion(a.requests, 1);
}

TEST_F(Shared, counts_include_what_was_not_dequeued)
{
    b.accept_from(a);
    for (unsigned i = 0; i < 8; i++)
        EXPECT_OK(post(i * 100, i));
    EXPECT_DAT(error(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY), post(0, 8));
    EXPECT_OK(a.send(0, 8, 1));
    expect_completion(a.requests, 1);
    EXPECT_EQ(query().available_dto_count, 7);
    EXPECT_EQ(query().outstanding_dto_count, 8);
    EXPECT_DAT(error(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY), post(0, 8));
    EXPECT_DAT(bad_state(), dat_srq_resize(srq, 7));
    expect_completion(b.receives, 0);
    EXPECT_EQ(query().outstanding_dto_count, 7);
    EXPECT_OK(post(0, 8));
    EXPECT_OK(dat_srq_resize(srq, 100));
    EXPECT_GE(query().max_recv_dtos, 100);
    EXPECT_DAT(bad_state(DAT_INVALID_STATE_SRQ_IN_USE), dat_srq_free(srq));
    EXPECT_OK(dat_ep_free(b.ep));
    EXPECT_OK(dat_srq_free(srq));
    EXPECT_DAT(bad_handle(DAT_INVALID_HANDLE_SRQ), dat_srq_free(srq));
}

TEST_F(Shared, low_watermark_is_told_once)
{
    EXPECT_OK(post(0, 1));
    EXPECT_OK(post(0, 2));
    EXPECT_OK(dat_srq_set_lw(srq, 2));
    b.adapter.expect_no_async_event();
    b.accept_from(a);
    EXPECT_OK(a.send(0, 8, 1));
    const DAT_EVENT event = next_event(b.adapter.async);
    EXPECT_EQ(event.event_data.asynch_error_event_data.dat_handle, srq);
    EXPECT_EQ(event.event_data.asynch_error_event_data.reason, DAT_SRQ_LOW_WATERMARK_EVENT);
    EXPECT_OK(a.send(0, 8, 2));
    // The provider compares with the watermark before it completes a message.
    expect_completion(b.receives, 1);
    expect_completion(b.receives, 2);
    b.adapter.expect_no_async_event();
    EXPECT_OK(dat_srq_set_lw(srq, 1)); // at once
    next_event(b.adapter.async);
    EXPECT_DAT(bad_argument(2), dat_srq_set_lw(srq, -1));
    EXPECT_DAT(bad_argument(2), dat_srq_set_lw(srq, 9));
}

TEST(Watermarks, hard_one_breaks_the_connection)
{
    Side a;
    Side b;
    b.accept_from(a);
    EXPECT_OK(b.receive(0, 8, 1));
    EXPECT_OK(b.receive(0, 8, 2));
    EXPECT_OK(dat_ep_set_watermark(b.ep, 1, DAT_WATERMARK_INFINITE));
    const DAT_EVENT event = next_event(b.adapter.async);
    EXPECT_EQ(event.event_data.asynch_error_event_data.dat_handle, b.ep);
    EXPECT_EQ(event.event_data.asynch_error_event_data.reason, DAT_SRQ_SOFT_HIGH_WATERMARK_EVENT);
    DAT_COUNT held = 0;
    DAT_COUNT span = 0;
    EXPECT_OK(dat_ep_recv_query(b.ep, &held, &span));
    EXPECT_EQ(held, 2);
    EXPECT_EQ(span, 2);
    EXPECT_OK(dat_ep_set_watermark(b.ep, DAT_WATERMARK_INFINITE, 1));
    expect_event(b.connections, DAT_CONNECTION_EVENT_BROKEN);
    expect_disorderly_end(a.connections);
}
