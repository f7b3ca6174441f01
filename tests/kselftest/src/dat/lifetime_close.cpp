// SPDX-License-Identifier: GPL-2.0
// Abrupt dat_ia_close with everything open. That nothing stays behind is seen by whoever runs the
// test.
#include "dat/support/doomed.hpp"
#include "dat/support/waiter.hpp"

#include <cstring>
#include <gtest/gtest.h>
#include <optional>
#include <pthread.h>
#include <thread>

using namespace rsmtest;
using namespace rsmtest::dat;

namespace {

class LifetimeClose : public testing::Test {
protected:
    void close(Side &side)
    {
        EXPECT_OK(dat_ia_close(side.adapter.ia, DAT_CLOSE_ABRUPT_FLAG));
        side.adapter.ia = side.memory.lmr = DAT_HANDLE_NULL;
    }
    void make_all(Side &side);

    DAT_CNO_HANDLE cno = DAT_HANDLE_NULL;
    DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
    DAT_RSP_HANDLE rsp = DAT_HANDLE_NULL;
    DAT_SRQ_HANDLE srq = DAT_HANDLE_NULL;
    DAT_RMR_HANDLE rmr = DAT_HANDLE_NULL;
    DAT_LMR_HANDLE lmr = DAT_HANDLE_NULL;
    DAT_EP_HANDLE reserved = DAT_HANDLE_NULL, with_srq = DAT_HANDLE_NULL, asking = DAT_HANDLE_NULL;
    DAT_CONN_QUAL qualifier = 0;
    const Pages pages{2};
};

// Objects that Side does not have.
void LifetimeClose::make_all(Side &side)
{
    const Adapter &ia = side.adapter;
    EXPECT_OK(dat_cno_create(ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &cno));
    ia.make_evd(DAT_EVD_SOFTWARE_FLAG, 8, cno);
    EXPECT_OK(dat_psp_create_any(ia, &qualifier, side.arrivals, DAT_PSP_CONSUMER_FLAG, &psp));
    EXPECT_OK(dat_ep_create(ia, side.pz, side.receives, side.requests, side.connections, nullptr,
                            &reserved));
    EXPECT_OK(dat_rsp_create(ia, qualifier + 1, reserved, side.arrivals, &rsp));
    DAT_SRQ_ATTR attributes{16, 4, DAT_SRQ_LW_DEFAULT};
    EXPECT_OK(dat_srq_create(ia, side.pz, &attributes, &srq));
    DAT_LMR_TRIPLET piece = side.memory.piece(0, 64);
    EXPECT_OK(dat_srq_post_recv(srq, 1, &piece, cookie(1)));
    DAT_EP_ATTR usual = default_attributes(ia);
    EXPECT_OK(dat_ep_create_with_srq(ia, side.pz, side.receives, side.requests, side.connections,
                                     srq, &usual, &with_srq));
    DAT_REGION_DESCRIPTION region{};
    region.for_va = pages.data();
    DAT_LMR_CONTEXT lmr_context = 0;
    DAT_RMR_CONTEXT rmr_context = 0;
    EXPECT_OK(dat_lmr_create(ia, DAT_MEM_TYPE_VIRTUAL, region, pages.size(), side.pz,
                             DAT_MEM_PRIV_ALL_FLAG, &lmr, &lmr_context, &rmr_context, nullptr,
                             nullptr));
    EXPECT_OK(dat_rmr_create(side.pz, &rmr));
}

} // namespace

TEST_F(LifetimeClose, with_everything_open)
{
    Side peer;
    Side side;
    make_all(side);
    side.accept_from(peer);
    const DAT_LMR_TRIPLET part = side.memory.piece(0, 4096);
    DAT_RMR_CONTEXT context = 0;
    EXPECT_OK(dat_rmr_bind(rmr, &part, DAT_MEM_PRIV_ALL_FLAG, side.ep, cookie(1),
                           DAT_COMPLETION_DEFAULT_FLAG, &context));
    EXPECT_OK(side.receive(0, 64, 1));
    EXPECT_OK(side.send(0, 60000, 2)); // half of it is on its way
    EXPECT_OK(peer.send(0, 60000, 3));
    EXPECT_OK(peer.receive(0, 64, 4));
    EXPECT_OK(dat_ep_free(peer.ep));
    peer.ep = DAT_HANDLE_NULL;
    close(side);
    for (const DAT_HANDLE dead : {side.ep, reserved, with_srq})
        EXPECT_DAT(bad_handle(DAT_INVALID_HANDLE_EP), dat_ep_reset(dead));
    EXPECT_TYPE(DAT_INVALID_HANDLE, dat_lmr_free(lmr));
    EXPECT_TYPE(DAT_INVALID_HANDLE, dat_psp_free(psp));
    EXPECT_TYPE(DAT_INVALID_HANDLE, dat_srq_free(srq));
}

TEST_F(LifetimeClose, peer_of_it_is_told)
{
    Side peer;
    {
        Side side;
        make_all(side);
        side.accept_from(peer);
        EXPECT_OK(peer.receive(0, 60000, 0));
        EXPECT_OK(peer.send(0, 60000, 0)); // nobody receives
        EXPECT_OK(side.send(0, 60000, 5));
        close(side);
    }
    expect_event(peer.connections, DAT_CONNECTION_EVENT_DISCONNECTED);
    expect_requests_flushed(peer, 1);
    expect_receives_flushed(peer, 1);
    EXPECT_EQ(state_of(peer.ep), DAT_EP_STATE_DISCONNECTED);
    // The qualifiers are free again.
    DAT_PSP_HANDLE again = DAT_HANDLE_NULL;
    EXPECT_OK(
        dat_psp_create(peer.adapter, qualifier, peer.arrivals, DAT_PSP_CONSUMER_FLAG, &again));
    EXPECT_OK(dat_psp_free(again));
    EXPECT_OK(
        dat_psp_create(peer.adapter, qualifier + 1, peer.arrivals, DAT_PSP_CONSUMER_FLAG, &again));
    EXPECT_OK(dat_psp_free(again));
}

// Requests that have been made and not answered, on both sides.
TEST_F(LifetimeClose, in_the_middle_of_the_set_up)
{
    for (const bool active : {true, false}) {
        Side asks, asked;
        DAT_PSP_HANDLE point = DAT_HANDLE_NULL;
        EXPECT_OK(dat_psp_create_any(asked.adapter, &qualifier, asked.arrivals,
                                     DAT_PSP_CONSUMER_FLAG, &point));
        EXPECT_OK(connect(asks, qualifier));
        const DAT_CR_HANDLE cr = expect_event(asked.arrivals, DAT_CONNECTION_REQUEST_EVENT)
                                     .event_data.cr_arrival_event_data.cr_handle;
        if (active) {
            close(asks);
            EXPECT_OK(dat_cr_accept(cr, asked.ep, 0, nullptr));
            expect_event(asked.connections, DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR);
        } else {
            close(asked);
            expect_event(asks.connections, DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
        }
    }
}

TEST_F(LifetimeClose, waiters_return)
{
    Side side;
    EXPECT_OK(dat_cno_create(side.adapter, DAT_OS_WAIT_PROXY_AGENT_NULL, &cno));
    EvdWaiter waiter(side.receives, DAT_TIMEOUT_INFINITE);
    CnoWaiter cno_waiter(cno, DAT_TIMEOUT_INFINITE);
    ASSERT_TRUE(waiter.waits());
    ASSERT_TRUE(cno_waiter.waits());
    close(side);
    EXPECT_EQ(waiter.result(), error(DAT_ABORT));
    cno_waiter.result();
    EXPECT_EQ(cno_waiter.evd, DAT_HANDLE_NULL);
}

TEST_F(LifetimeClose, again_and_again)
{
    for (int round = 0; round < 20; round++) {
        Side peer;
        Side side;
        side.accept_from(peer);
        EXPECT_OK(side.send(0, 60000, 1));
        close(round % 2 ? side : peer);
        ASSERT_FALSE(HasFailure());
    }
}

// A cancelled thread goes on to its next cancellation point, and none is in the library.
TEST(LifetimeCancel, no_function_is_a_cancellation_point)
{
    bool finished = false;
    std::thread thread([&] {
        pthread_cancel(pthread_self());
        {
            Side a, b;
            b.accept_from(a);
            EXPECT_OK(b.receive(0, 8, 1));
            EXPECT_OK(a.send(0, 8, 2));
            expect_completion(b.receives, 1);
            expect_completion(a.requests, 2);
            EXPECT_OK(dat_ep_free(a.ep));
            expect_event(b.connections, DAT_CONNECTION_EVENT_DISCONNECTED);
        }
        finished = true;
        pthread_testcancel();
    });
    thread.join();
    EXPECT_TRUE(finished);
}

// A thread that is cancelled while it sleeps in the library sleeps on until the event has come.
TEST(LifetimeCancel, waits_end_with_their_event)
{
    Side side;
    DAT_CNO_HANDLE cno = DAT_HANDLE_NULL;
    EXPECT_OK(dat_cno_create(side.adapter, DAT_OS_WAIT_PROXY_AGENT_NULL, &cno));
    const DAT_EVD_HANDLE evd = side.adapter.make_evd(DAT_EVD_SOFTWARE_FLAG);
    const DAT_EVD_HANDLE with_cno = side.adapter.make_evd(DAT_EVD_SOFTWARE_FLAG, 8, cno);
    EvdWaiter waiter(evd, DAT_TIMEOUT_INFINITE);
    CnoWaiter cno_waiter(cno, DAT_TIMEOUT_INFINITE);
    ASSERT_TRUE(waiter.waits());
    ASSERT_TRUE(cno_waiter.waits());
    waiter.cancel();
    cno_waiter.cancel();
    EXPECT_TRUE(waiter.waits());
    EXPECT_TRUE(cno_waiter.waits());
    EXPECT_OK(post_software(evd, 1));
    EXPECT_OK(post_software(with_cno, 2));
    EXPECT_EQ(waiter.result(), Result{DAT_SUCCESS});
    expect_software(waiter.event, 1);
    EXPECT_EQ(cno_waiter.result(), Result{DAT_SUCCESS});
    EXPECT_EQ(cno_waiter.evd, with_cno);
}
