// SPDX-License-Identifier: GPL-2.0
// Several opens of one adapter in a process: endpoints and service points of one with EVDs of
// another (udapl-functions.md section 3), and what is left of them when either is closed.
#include "dat/support/objects.hpp"
#include "dat/support/waiter.hpp"

#include <gtest/gtest.h>
#include <thread>

using namespace rsmtest;
using namespace rsmtest::dat;

namespace {

const Result in_use = bad_state(DAT_INVALID_STATE_EVD_IN_USE);

// EVDs for all roles of a side.
void use_evds_of(const Adapter &adapter, Side &side)
{
    side.receives = adapter.make_evd(DAT_EVD_DTO_FLAG);
    side.requests = adapter.make_evd(DAT_EVD_DTO_FLAG | DAT_EVD_RMR_BIND_FLAG);
    side.connections = adapter.make_evd(DAT_EVD_CONNECTION_FLAG);
    side.arrivals = adapter.make_evd(DAT_EVD_CR_FLAG);
}

DAT_RETURN modify_evds(const Side &side)
{
    DAT_EP_PARAM param{};
    param.recv_evd_handle = side.receives;
    param.request_evd_handle = side.requests;
    param.connect_evd_handle = side.connections;
    return dat_ep_modify(side.ep,
                         DAT_EP_FIELD_RECV_EVD_HANDLE | DAT_EP_FIELD_REQUEST_EVD_HANDLE |
                             DAT_EP_FIELD_CONNECT_EVD_HANDLE,
                         &param);
}

void close(DAT_IA_HANDLE &ia)
{
    EXPECT_OK(dat_ia_close(std::exchange(ia, DAT_HANDLE_NULL), DAT_CLOSE_ABRUPT_FLAG));
}

void close(Side &side)
{
    side.memory.lmr = DAT_HANDLE_NULL;
    close(side.adapter.ia);
}

void expect_no_evds(DAT_EP_HANDLE ep)
{
    DAT_EP_PARAM param{};
    EXPECT_OK(dat_ep_query(ep, DAT_EP_FIELD_ALL, &param));
    EXPECT_EQ(param.recv_evd_handle, DAT_HANDLE_NULL);
    EXPECT_EQ(param.request_evd_handle, DAT_HANDLE_NULL);
    EXPECT_EQ(param.connect_evd_handle, DAT_HANDLE_NULL);
}

// b's endpoint has EVDs of the open `other`.
class Opens : public testing::Test {
protected:
    Opens()
    {
        EXPECT_OK(dat_ep_free(b.ep));
        use_evds_of(other, b);
        EXPECT_OK(dat_ep_create(b.adapter, b.pz, b.receives, b.requests, b.connections, nullptr,
                                &b.ep));
    }
    // Each kind of transfer, in both directions; threads sleep in dat_evd_wait meanwhile.
    void transfer(DAT_UINT64 id)
    {
        EXPECT_OK(b.receive(0, 64, id));
        EXPECT_OK(a.send(64, 64, id));
        EXPECT_EQ(expect_completion(b.receives, id), 64U);
        expect_completion(a.requests, id);
        EXPECT_OK(a.receive(0, 64, id + 1));
        EXPECT_OK(b.send(64, 64, id + 1));
        expect_completion(a.receives, id + 1);
        expect_completion(b.requests, id + 1);
        EXPECT_OK(b.write(0, a.memory.remote(128, 64), id + 2));
        expect_completion(b.requests, id + 2);
        EXPECT_OK(b.read(0, a.memory.remote(128, 64), id + 3));
        expect_completion(b.requests, id + 3);
    }
    // As good as new, with EVDs of its own open.
    void expect_usable_again()
    {
        EXPECT_OK(dat_ep_reset(a.ep));
        EXPECT_OK(dat_ep_reset(b.ep));
        use_evds_of(b.adapter, b);
        EXPECT_OK(modify_evds(b));
        b.accept_from(a);
        transfer(100);
    }

    Side a, b;
    Adapter other;
};

TEST_F(Opens, endpoint_with_evds_of_another)
{
    b.accept_from(a);
    transfer(1);
    EXPECT_OK(b.receive(0, 64, 9));
    EXPECT_OK(dat_ep_disconnect(a.ep, DAT_CLOSE_ABRUPT_FLAG));
    expect_completion(b.receives, 9, DAT_DTO_ERR_FLUSHED);
    expect_event(a.connections, DAT_CONNECTION_EVENT_DISCONNECTED);
    expect_event(b.connections, DAT_CONNECTION_EVENT_DISCONNECTED);
    EXPECT_OK(dat_ep_reset(a.ep));
    EXPECT_OK(dat_ep_reset(b.ep));
    a.accept_from(b); // the other way round
    transfer(10);
}

TEST_F(Opens, endpoint_modified_to_evds_of_another)
{
    use_evds_of(b.adapter, b);
    EXPECT_OK(modify_evds(b));
    const Adapter third;
    use_evds_of(third, b);
    EXPECT_OK(modify_evds(b));
    b.accept_from(a);
    transfer(1);
}

TEST_F(Opens, endpoint_with_srq_and_evds_of_another)
{
    DAT_SRQ_ATTR attributes{16, 4, DAT_SRQ_LW_DEFAULT};
    DAT_SRQ_HANDLE srq = DAT_HANDLE_NULL;
    EXPECT_OK(dat_srq_create(b.adapter, b.pz, &attributes, &srq));
    DAT_EP_ATTR usual = default_attributes(b.adapter);
    EXPECT_OK(dat_ep_free(b.ep));
    EXPECT_OK(dat_ep_create_with_srq(b.adapter, b.pz, b.receives, b.requests, b.connections, srq,
                                     &usual, &b.ep));
    b.accept_from(a);
    DAT_LMR_TRIPLET piece = b.memory.piece(0, 64);
    EXPECT_OK(dat_srq_post_recv(srq, 1, &piece, cookie(1)));
    EXPECT_OK(a.send(0, 64, 2));
    expect_completion(b.receives, 1);
    expect_completion(a.requests, 2);
}

// EVDs only: everything else belongs to the open of the endpoint.
TEST_F(Opens, share_nothing_but_evds)
{
    DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
    EXPECT_DAT(bad_handle(DAT_INVALID_HANDLE_PZ),
               dat_ep_create(a.adapter, b.pz, b.receives, b.requests, b.connections, nullptr, &ep));
    EXPECT_DAT(bad_handle(DAT_INVALID_HANDLE_EVD_RECV),
               dat_ep_create(a.adapter, a.pz, b.connections, b.requests, b.connections, nullptr,
                             &ep));
    b.accept_from(a);
    const DAT_LMR_TRIPLET piece = a.memory.piece(0, 8);
    EXPECT_NE(dat_ep_post_recv(b.ep, 1, const_cast<DAT_LMR_TRIPLET *>(&piece), cookie(1),
                               DAT_COMPLETION_DEFAULT_FLAG),
              DAT_SUCCESS);
}

TEST_F(Opens, evd_in_use_by_another)
{
    for (DAT_EVD_HANDLE evd : {b.receives, b.requests, b.connections})
        EXPECT_DAT(in_use, dat_evd_free(evd));
    EXPECT_DAT(bad_state(DAT_INVALID_STATE_IA_IN_USE),
               dat_ia_close(other, DAT_CLOSE_GRACEFUL_FLAG));
    EXPECT_OK(dat_ep_free(b.ep));
    for (DAT_EVD_HANDLE evd : {b.receives, b.requests, b.connections, b.arrivals})
        EXPECT_OK(dat_evd_free(evd));
    EXPECT_OK(dat_ia_close(other, DAT_CLOSE_GRACEFUL_FLAG));
    other.ia = DAT_HANDLE_NULL;
}

// The open of the EVDs goes first: the connection ends, the endpoint stays.
TEST_F(Opens, close_of_the_evds)
{
    b.accept_from(a);
    EXPECT_OK(b.receive(0, 64, 1));
    close(other.ia);
    EXPECT_EQ(state_of(b.ep), DAT_EP_STATE_DISCONNECTED);
    expect_no_evds(b.ep);
    expect_disorderly_end(a.connections);
    expect_usable_again();
}

TEST_F(Opens, close_of_one_of_the_evds)
{
    const DAT_EVD_HANDLE receives = b.receives;
    use_evds_of(b.adapter, b);
    b.receives = receives;
    EXPECT_OK(modify_evds(b));
    b.accept_from(a);
    EXPECT_OK(a.receive(0, 64, 1));
    close(other.ia);
    expect_event(b.connections, DAT_CONNECTION_EVENT_BROKEN);
    expect_disorderly_end(a.connections);
    expect_completion(a.receives, 1, DAT_DTO_ERR_FLUSHED);
    expect_usable_again();
}

TEST_F(Opens, close_of_the_evds_of_an_idle_endpoint)
{
    close(other.ia);
    EXPECT_EQ(state_of(b.ep), DAT_EP_STATE_UNCONNECTED);
    expect_no_evds(b.ep);
    EXPECT_NE(b.send(0, 8, 1), DAT_SUCCESS);
    expect_usable_again();
}

// b has asked, and nobody has answered.
TEST_F(Opens, close_of_the_evds_while_connecting)
{
    DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
    DAT_CONN_QUAL qualifier = 0;
    EXPECT_OK(
        dat_psp_create_any(a.adapter, &qualifier, a.arrivals, DAT_PSP_CONSUMER_FLAG, &psp));
    EXPECT_OK(connect(b, qualifier));
    const DAT_EVENT event = expect_event(a.arrivals, DAT_CONNECTION_REQUEST_EVENT);
    close(other.ia);
    EXPECT_EQ(state_of(b.ep), DAT_EP_STATE_DISCONNECTED);
    EXPECT_OK(dat_cr_reject(event.event_data.cr_arrival_event_data.cr_handle));
    EXPECT_OK(dat_psp_free(psp));
    EXPECT_OK(dat_ep_free(b.ep));
}

// The open of the endpoint goes first.
TEST_F(Opens, close_of_the_endpoint)
{
    b.accept_from(a);
    EXPECT_OK(b.receive(0, 64, 1));
    close(b);
    const DAT_EVENT event = next_event(a.connections);
    EXPECT_TRUE(event.event_number == DAT_CONNECTION_EVENT_DISCONNECTED ||
                is_disorderly_end(event.event_number));
    for (DAT_EVD_HANDLE evd : {b.receives, b.requests, b.connections, b.arrivals}) {
        DAT_EVENT none{};
        EXPECT_TYPE(DAT_QUEUE_EMPTY, dat_evd_dequeue(evd, &none));
        EXPECT_OK(dat_evd_free(evd));
    }
    EXPECT_OK(dat_ia_close(other, DAT_CLOSE_GRACEFUL_FLAG));
    other.ia = DAT_HANDLE_NULL;
}

// Requests come to an EVD of another open, and go with it.
TEST_F(Opens, close_of_the_evd_of_a_service_point)
{
    DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
    DAT_CONN_QUAL qualifier = 0;
    EXPECT_OK(
        dat_psp_create_any(b.adapter, &qualifier, b.arrivals, DAT_PSP_PROVIDER_FLAG, &psp));
    EXPECT_DAT(in_use, dat_evd_free(b.arrivals));
    EXPECT_OK(connect(a, qualifier));
    close(other.ia);
    DAT_PSP_PARAM param{};
    EXPECT_OK(dat_psp_query(psp, DAT_PSP_FIELD_ALL, &param));
    EXPECT_EQ(param.evd_handle, DAT_HANDLE_NULL);
    expect_event(a.connections, DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
    EXPECT_OK(dat_ep_reset(a.ep));
    EXPECT_OK(connect(a, qualifier));
    expect_event(a.connections, DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
    EXPECT_OK(dat_psp_free(psp));
}

// The open of the service point goes first: requests that nobody has taken go with it.
TEST_F(Opens, close_of_a_service_point)
{
    const Side c;
    DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
    DAT_CONN_QUAL qualifier = 0;
    EXPECT_OK(dat_psp_create_any(b.adapter, &qualifier, b.arrivals, DAT_PSP_CONSUMER_FLAG, &psp));
    EXPECT_OK(connect(a, qualifier));
    EXPECT_OK(connect(c, qualifier));
    DAT_EVENT event{};
    DAT_COUNT more = 0;
    EXPECT_OK(dat_evd_wait(b.arrivals, DAT_TIMEOUT_INFINITE, 2, &event, &more));
    EXPECT_EQ(more, 1);
    close(b);
    EXPECT_TYPE(DAT_QUEUE_EMPTY, dat_evd_dequeue(b.arrivals, &event));
    EXPECT_OK(dat_evd_free(b.arrivals));
    expect_event(a.connections, DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
    expect_event(c.connections, DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
}

TEST_F(Opens, reserved_service_point_with_the_evd_of_another)
{
    const DAT_CONN_QUAL qualifier = Objects::unused_qualifier();
    DAT_RSP_HANDLE rsp = DAT_HANDLE_NULL;
    EXPECT_OK(dat_rsp_create(b.adapter, qualifier, b.ep, b.arrivals, &rsp));
    EXPECT_OK(connect(a, qualifier));
    const DAT_EVENT event = expect_event(b.arrivals, DAT_CONNECTION_REQUEST_EVENT);
    EXPECT_OK(dat_cr_accept(event.event_data.cr_arrival_event_data.cr_handle, DAT_HANDLE_NULL, 0,
                            nullptr));
    expect_event(a.connections, DAT_CONNECTION_EVENT_ESTABLISHED);
    expect_event(b.connections, DAT_CONNECTION_EVENT_ESTABLISHED);
    transfer(1);
    close(other.ia);
    DAT_RSP_PARAM param{};
    EXPECT_OK(dat_rsp_query(rsp, DAT_RSP_FIELD_ALL, &param));
    EXPECT_EQ(param.evd_handle, DAT_HANDLE_NULL);
    EXPECT_OK(dat_rsp_free(rsp));
    expect_disorderly_end(a.connections);
}

// A thread that waits for an EVD of its own open comes back when that is closed, and nobody else.
TEST_F(Opens, waiter_in_an_evd_that_another_feeds)
{
    b.accept_from(a);
    EvdWaiter waiter(b.receives, DAT_TIMEOUT_INFINITE);
    EXPECT_TRUE(waiter.waits());
    EXPECT_OK(b.receive(0, 64, 1));
    EXPECT_OK(a.send(0, 64, 2));
    EXPECT_EQ(Result{DAT_SUCCESS}, waiter.result());
    expect_completion(a.requests, 2);
    EvdWaiter last(b.connections, DAT_TIMEOUT_INFINITE);
    EXPECT_TRUE(last.waits());
    close(other.ia);
    EXPECT_EQ(error(DAT_ABORT), last.result());
    expect_disorderly_end(a.connections);
}

// Two threads, each with an open of its own and the other's EVD for what it receives.
TEST(OpensOfThreads, feed_each_others_evds)
{
    constexpr DAT_UINT64 rounds = 500;
    Side one, two;
    const DAT_EVD_HANDLE own = one.receives;
    one.receives = two.receives;
    two.receives = own;
    EXPECT_OK(modify_evds(one));
    EXPECT_OK(modify_evds(two));
    two.accept_from(one);
    // Events of the peer's endpoint are on an EVD of the thread's own open.
    const auto work = [](const Side &side, const Side &peer) {
        for (DAT_UINT64 i = 0; i < rounds; i++) {
            EXPECT_OK(peer.receive(0, 8, i));
            EXPECT_OK(side.send(64, 8, i));
            expect_completion(peer.receives, i);
            expect_completion(side.requests, i);
        }
    };
    std::thread first(work, std::cref(one), std::cref(two));
    std::thread second(work, std::cref(two), std::cref(one));
    first.join();
    second.join();
}

// Opens that are joined while others use them, and closed in any order.
TEST(OpensOfThreads, join_and_close)
{
    constexpr int rounds = 40;
    Adapter base;
    const DAT_EVD_HANDLE shared = base.make_evd(DAT_EVD_DTO_FLAG | DAT_EVD_CONNECTION_FLAG);
    const auto work = [shared] {
        for (int i = 0; i < rounds; i++) {
            const Adapter own;
            const DAT_PZ_HANDLE pz = own.make_pz();
            const DAT_EVD_HANDLE evd = own.make_evd(DAT_EVD_DTO_FLAG);
            DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
            EXPECT_OK(dat_ep_create(own, pz, evd, shared, shared, nullptr, &ep));
            DAT_EVENT event{};
            EXPECT_TYPE(DAT_QUEUE_EMPTY, dat_evd_dequeue(evd, &event));
            if (i % 2 == 0) {
                EXPECT_OK(dat_ep_free(ep));
            }
        }
    };
    std::thread first(work);
    std::thread second(work);
    first.join();
    second.join();
    EXPECT_OK(dat_evd_free(shared));
}

} // namespace
