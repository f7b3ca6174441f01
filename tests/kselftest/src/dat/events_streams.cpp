// SPDX-License-Identifier: GPL-2.0
// Events that come from endpoints: what notifies, what an EVD turns into, overflow, who keeps an
// EVD in use (udapl-functions.md 6.2 to 6.5).
#include "dat/support/objects.hpp"
#include "dat/support/waiter.hpp"

#include <gtest/gtest.h>

using namespace rsmtest;
using namespace rsmtest::dat;

namespace {

constexpr unsigned configuration = 0x30;

class EventStreams : public testing::Test {
protected:
    // Connected, b's endpoint with these attributes and EVDs.
    void connect_with(const DAT_EP_ATTR &attributes)
    {
        EXPECT_OK(dat_ep_free(b.ep));
        EXPECT_OK(dat_ep_create(b.adapter, b.pz, b.receives, b.requests, b.connections, &attributes,
                                &b.ep));
        b.accept_from(a);
    }
    void connect_unsignalled()
    {
        DAT_EP_ATTR attributes = default_attributes(b.adapter);
        attributes.request_completion_flags = DAT_COMPLETION_UNSIGNALLED_FLAG;
        connect_with(attributes);
    }
    void connect_solicited()
    {
        DAT_EP_ATTR attributes = default_attributes(b.adapter);
        attributes.recv_completion_flags = DAT_COMPLETION_SOLICITED_WAIT_FLAG;
        connect_with(attributes);
    }
    DAT_CNO_HANDLE attach(DAT_EVD_HANDLE evd) const
    {
        DAT_CNO_HANDLE cno = DAT_HANDLE_NULL;
        EXPECT_OK(dat_cno_create(b.adapter, DAT_OS_WAIT_PROXY_AGENT_NULL, &cno));
        EXPECT_OK(dat_evd_modify_cno(evd, cno));
        return cno;
    }
    static unsigned configured(DAT_EVD_HANDLE evd)
    {
        DAT_EVD_PARAM param{};
        EXPECT_OK(dat_evd_query(evd, DAT_EVD_FIELD_ALL, &param));
        return static_cast<unsigned>(param.evd_state) & configuration;
    }

    Side a;
    Side b;
    DAT_EVENT event{};
    DAT_COUNT more = 0;
    DAT_EVD_HANDLE hint = nullptr;
};

} // namespace

TEST_F(EventStreams, unsignalled_makes_it_notify)
{
    EXPECT_EQ(configured(b.requests), unsigned{DAT_EVD_STATE_CONFIG_THRESHOLD});
    connect_unsignalled();
    EXPECT_EQ(configured(b.requests), unsigned{DAT_EVD_STATE_CONFIG_NOTIFY});
    EXPECT_EQ(configured(b.receives), unsigned{DAT_EVD_STATE_CONFIG_THRESHOLD});
    EXPECT_DAT(bad_state(DAT_INVALID_STATE_EVD_CONFIG_NOTIFY),
               dat_evd_wait(b.requests, 0, 2, &event, &more));
    EXPECT_OK(dat_ep_free(b.ep));
    EXPECT_EQ(configured(b.requests), unsigned{DAT_EVD_STATE_CONFIG_THRESHOLD});
    expect_event(a.connections, DAT_CONNECTION_EVENT_DISCONNECTED);
}

TEST_F(EventStreams, unsignalled_completion_wakes_nobody)
{
    connect_unsignalled();
    const DAT_RMR_TRIPLET to = a.memory.remote(0, 8);
    EvdWaiter waiter(b.requests, DAT_TIMEOUT_INFINITE);
    ASSERT_TRUE(waiter.waits());
    EXPECT_OK(b.write(0, to, 1, DAT_COMPLETION_UNSIGNALLED_FLAG));
    await_no_requests(b.ep);
    EXPECT_TRUE(waiter.waits());
    EXPECT_OK(b.write(0, to, 2));
    EXPECT_EQ(waiter.result(), Result{DAT_SUCCESS});
    EXPECT_EQ(waiter.more, 1) << "the waiter was woken before";
    EXPECT_EQ(waiter.event.event_data.dto_completion_event_data.user_cookie.as_64, 1U);
    expect_completion(b.requests, 2);

    // Events that are there already are returned, whether or not they notified.
    EXPECT_OK(b.write(0, to, 3, DAT_COMPLETION_UNSIGNALLED_FLAG));
    await_no_requests(b.ep);
    expect_completion(b.requests, 3);
}

TEST_F(EventStreams, unsignalled_completion_triggers_nothing)
{
    connect_unsignalled();
    const DAT_CNO_HANDLE cno = attach(b.requests);
    const DAT_RMR_TRIPLET to = a.memory.remote(0, 8);
    EXPECT_OK(b.write(0, to, 1, DAT_COMPLETION_UNSIGNALLED_FLAG));
    await_no_requests(b.ep);
    EXPECT_DAT(error(DAT_QUEUE_EMPTY), dat_cno_wait(cno, 0, &hint));
    EXPECT_OK(b.write(0, to, 2));
    EXPECT_OK(dat_cno_wait(cno, DAT_TIMEOUT_INFINITE, &hint));
    EXPECT_EQ(hint, b.requests);
    expect_completion(b.requests, 1);
    expect_completion(b.requests, 2);
}

// An error is told whatever the flags.
TEST_F(EventStreams, unsignalled_failure_wakes)
{
    connect_unsignalled();
    DAT_RMR_TRIPLET nowhere = a.memory.remote(0, 8);
    nowhere.rmr_context ^= 0x5a5a5a5a;
    EvdWaiter waiter(b.requests, DAT_TIMEOUT_INFINITE);
    ASSERT_TRUE(waiter.waits());
    EXPECT_OK(b.write(0, nowhere, 1, DAT_COMPLETION_UNSIGNALLED_FLAG));
    EXPECT_EQ(waiter.result(), Result{DAT_SUCCESS});
    EXPECT_EQ(waiter.event.event_data.dto_completion_event_data.status, DAT_DTO_ERR_REMOTE_ACCESS);
}

TEST_F(EventStreams, solicited_wait)
{
    connect_solicited();
    EXPECT_EQ(configured(b.receives), unsigned{DAT_EVD_STATE_CONFIG_SOLICITED});
    EXPECT_DAT(bad_state(DAT_INVALID_STATE_EVD_CONFIG_SOLICITED),
               dat_evd_wait(b.receives, 0, 2, &event, &more));
    for (DAT_UINT64 i = 1; i <= 3; i++)
        EXPECT_OK(b.receive(i * 8, 8, i));
    EvdWaiter waiter(b.receives, DAT_TIMEOUT_INFINITE);
    ASSERT_TRUE(waiter.waits());
    EXPECT_OK(a.send(0, 8, 1));
    EXPECT_OK(a.send(0, 8, 2));
    // Over verbs a message may arrive before the engine of b sees it; then only the number of further events judges.
    await_no_requests(a.ep);
    EXPECT_TRUE(waiter.waits());
    EXPECT_OK(a.send(0, 8, 3, DAT_COMPLETION_SOLICITED_WAIT_FLAG));
    EXPECT_EQ(waiter.result(), Result{DAT_SUCCESS});
    EXPECT_EQ(waiter.more, 2) << "the waiter was woken before";
    EXPECT_EQ(waiter.event.event_data.dto_completion_event_data.user_cookie.as_64, 1U);
    expect_completion(b.receives, 2);
    expect_completion(b.receives, 3);
}

TEST_F(EventStreams, solicited_wait_and_cno)
{
    connect_solicited();
    const DAT_CNO_HANDLE cno = attach(b.receives);
    EXPECT_OK(b.receive(0, 8, 1));
    EXPECT_OK(b.receive(8, 8, 2));
    EXPECT_OK(a.send(0, 8, 1));
    await_no_requests(a.ep);
    EXPECT_DAT(error(DAT_QUEUE_EMPTY), dat_cno_wait(cno, 0, &hint));
    EXPECT_OK(a.send(0, 8, 2, DAT_COMPLETION_SOLICITED_WAIT_FLAG));
    EXPECT_OK(dat_cno_wait(cno, DAT_TIMEOUT_INFINITE, &hint));
    EXPECT_EQ(hint, b.receives);
}

// The flag means something only where the receiver asks for it.
TEST_F(EventStreams, solicited_send_to_an_ordinary_receiver)
{
    b.accept_from(a);
    EXPECT_OK(b.receive(0, 8, 1));
    EvdWaiter waiter(b.receives, DAT_TIMEOUT_INFINITE);
    ASSERT_TRUE(waiter.waits());
    EXPECT_OK(a.send(0, 8, 1));
    EXPECT_EQ(waiter.result(), Result{DAT_SUCCESS});
}

// Programs that poll one EVD for all do so. Each completion notifies or does not by its own flags.
TEST_F(EventStreams, unsignalled_requests_share_an_evd_with_default_receives)
{
    EXPECT_OK(dat_ep_free(b.ep));
    DAT_EP_ATTR attributes = default_attributes(b.adapter);
    attributes.request_completion_flags = DAT_COMPLETION_UNSIGNALLED_FLAG;
    const DAT_EVD_HANDLE both = b.adapter.make_evd(DAT_EVD_DTO_FLAG | DAT_EVD_RMR_BIND_FLAG);
    EXPECT_OK(dat_ep_create(b.adapter, b.pz, both, both, b.connections, &attributes, &b.ep));
    EXPECT_EQ(configured(both), unsigned{DAT_EVD_STATE_CONFIG_NOTIFY});
    b.accept_from(a);
    EXPECT_OK(b.receive(100, 8, 1));
    EXPECT_OK(b.write(0, a.memory.remote(0, 8), 2));
    expect_completion(both, 2);
    const DAT_CNO_HANDLE cno = attach(both);
    EXPECT_OK(b.write(0, a.memory.remote(0, 8), 3, DAT_COMPLETION_UNSIGNALLED_FLAG));
    EXPECT_OK(a.send(0, 8, 4));
    EXPECT_OK(dat_cno_wait(cno, DAT_TIMEOUT_INFINITE, &hint)); // for the receive
    EXPECT_EQ(hint, both);
    const DAT_EVENT first = next_event(both);
    const DAT_EVENT second = next_event(both);
    EXPECT_EQ(first.event_data.dto_completion_event_data.user_cookie.as_64 +
                  second.event_data.dto_completion_event_data.user_cookie.as_64,
              1U + 3U);
    expect_completion(a.requests, 4);
}

// Attributes that can't share an EVD.
TEST_F(EventStreams, combinations_that_are_refused)
{
    DAT_EP_ATTR attributes = default_attributes(b.adapter);
    const DAT_EVD_HANDLE both =
        b.adapter.make_evd(DAT_EVD_DTO_FLAG | DAT_EVD_CONNECTION_FLAG | DAT_EVD_RMR_BIND_FLAG);
    DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
    const auto create = [&](DAT_EVD_HANDLE receives, DAT_EVD_HANDLE connections) {
        return dat_ep_create(b.adapter, b.pz, receives, both, connections, &attributes, &ep);
    };
    attributes.request_completion_flags = DAT_COMPLETION_UNSIGNALLED_FLAG;
    EXPECT_DAT(bad_argument(6), create(b.receives, both));    // other than DTO streams
    attributes.request_completion_flags = DAT_COMPLETION_EVD_THRESHOLD_FLAG;
    attributes.recv_completion_flags = DAT_COMPLETION_SOLICITED_WAIT_FLAG;
    EXPECT_DAT(bad_argument(6), create(both, b.connections)); // requests besides
    EXPECT_DAT(bad_argument(6), create(b.receives, both));    // receives of b.ep besides
    attributes.recv_completion_flags = DAT_COMPLETION_EVD_THRESHOLD_FLAG;
    EXPECT_OK(create(both, both));
}

TEST_F(EventStreams, overflow)
{
    const DAT_EVD_HANDLE small = b.adapter.make_evd(DAT_EVD_DTO_FLAG, 2);
    DAT_EVD_PARAM param{};
    EXPECT_OK(dat_evd_query(small, DAT_EVD_FIELD_ALL, &param));
    const auto length = static_cast<DAT_UINT64>(param.evd_qlen);
    EXPECT_OK(dat_ep_free(b.ep));
    DAT_EP_ATTR attributes = default_attributes(b.adapter);
    attributes.max_recv_dtos = attributes.max_request_dtos = param.evd_qlen + 2;
    EXPECT_OK(dat_ep_create(b.adapter, b.pz, small, b.requests, b.connections, &attributes, &b.ep));
    b.accept_from(a);
    for (DAT_UINT64 i = 1; i <= length + 1; i++) {
        EXPECT_OK(b.receive(0, 8, i));
        EXPECT_OK(a.send(0, 8, i));
    }
    event = expect_event(b.adapter.async, DAT_ASYNC_ERROR_EVD_OVERFLOW);
    EXPECT_EQ(event.event_data.asynch_error_event_data.dat_handle, small);
    EXPECT_EQ(event.event_data.asynch_error_event_data.reason, DAT_EVD_OVERFLOW_ERROR);
    for (DAT_UINT64 i = 1; i <= length; i++) {
        EXPECT_OK(dat_evd_dequeue(small, &event));
        EXPECT_EQ(event.event_data.dto_completion_event_data.user_cookie.as_64, i);
    }
    EXPECT_DAT(bad_state(), dat_evd_dequeue(small, &event));
    EXPECT_DAT(bad_state(), dat_evd_wait(small, 0, 1, &event, &more));
    EXPECT_DAT(bad_state(), dat_evd_wait(small, DAT_TIMEOUT_INFINITE, 1, &event, &more));
    expect_event(b.connections, DAT_CONNECTION_EVENT_BROKEN); // it has lost an event
    expect_disorderly_end(a.connections);
    EXPECT_OK(dat_ep_free(b.ep));
    EXPECT_OK(dat_evd_free(small));
}

// Writes, which need no word of the peer's.
TEST_F(EventStreams, overflow_of_requests)
{
    const DAT_EVD_HANDLE small = b.adapter.make_evd(DAT_EVD_DTO_FLAG, 2);
    DAT_EVD_PARAM param{};
    EXPECT_OK(dat_evd_query(small, DAT_EVD_FIELD_ALL, &param));
    EXPECT_OK(dat_ep_free(b.ep));
    DAT_EP_ATTR attributes = default_attributes(b.adapter);
    attributes.max_recv_dtos = attributes.max_request_dtos = param.evd_qlen + 2;
    EXPECT_OK(dat_ep_create(b.adapter, b.pz, b.receives, small, b.connections, &attributes, &b.ep));
    b.accept_from(a);
    for (DAT_COUNT i = 1; i <= param.evd_qlen + 1; i++)
        EXPECT_OK(b.write(0, a.memory.remote(0, 8), static_cast<DAT_UINT64>(i)));
    expect_event(b.adapter.async, DAT_ASYNC_ERROR_EVD_OVERFLOW);
    expect_event(b.connections, DAT_CONNECTION_EVENT_BROKEN);
    expect_disorderly_end(a.connections);
    EXPECT_EQ(state_of(b.ep), DAT_EP_STATE_DISCONNECTED);
    // The endpoint is as good as new with an EVD that is alive.
    EXPECT_OK(dat_ep_reset(b.ep));
    DAT_EP_PARAM other{};
    other.request_evd_handle = b.requests;
    EXPECT_OK(dat_ep_modify(b.ep, DAT_EP_FIELD_REQUEST_EVD_HANDLE, &other));
    EXPECT_OK(dat_ep_reset(a.ep));
    b.accept_from(a);
    EXPECT_OK(b.write(0, a.memory.remote(0, 8), 7));
    expect_completion(b.requests, 7);
}

// Events of an open that has no asynchronous EVD go to those of the adapter's other opens; an EVD
// that several of them use gets an event once.
TEST_F(EventStreams, asynchronous_evds_get_all_events)
{
    DAT_EVD_HANDLE shared = a.adapter.async;
    DAT_IA_HANDLE sharing = DAT_HANDLE_NULL;
    ASSERT_OK(dat_ia_open(const_cast<char *>(ia_name()), 1, &shared, &sharing));
    DAT_EVD_HANDLE none = DAT_EVD_ASYNC_EXISTS;
    DAT_IA_HANDLE without = DAT_HANDLE_NULL;
    ASSERT_OK(dat_ia_open(const_cast<char *>(ia_name()), 0, &none, &without));
    DAT_PZ_HANDLE pz = DAT_HANDLE_NULL;
    DAT_SRQ_HANDLE srq[2]{};
    ASSERT_OK(dat_pz_create(without, &pz));
    DAT_SRQ_ATTR attributes{8, 1, DAT_SRQ_LW_DEFAULT};
    for (DAT_SRQ_HANDLE &one : srq) {
        ASSERT_OK(dat_srq_create(without, pz, &attributes, &one));
        ASSERT_OK(dat_srq_set_lw(one, 1)); // there is nothing in it: fires at once
    }
    for (const DAT_EVD_HANDLE async : {a.adapter.async, b.adapter.async})
        for (const DAT_SRQ_HANDLE about : srq) {
            event = next_event(async);
            EXPECT_EQ(event.evd_handle, async);
            EXPECT_EQ(event.event_data.asynch_error_event_data.dat_handle, about);
            EXPECT_EQ(event.event_data.asynch_error_event_data.reason, DAT_SRQ_LOW_WATERMARK_EVENT);
        }
    EXPECT_OK(dat_ia_close(without, DAT_CLOSE_ABRUPT_FLAG));
    EXPECT_OK(dat_ia_close(sharing, DAT_CLOSE_GRACEFUL_FLAG));
}

// Each asynchronous EVD of an IA instance's adapter has all of them, the instance with none has
// none.
TEST_F(EventStreams, asynchronous_evd_of_somebody_else)
{
    DAT_EVD_HANDLE async = b.adapter.async;
    DAT_EVD_HANDLE found = nullptr;
    DAT_IA_HANDLE sharing = DAT_HANDLE_NULL;
    DAT_IA_HANDLE without = DAT_HANDLE_NULL;
    ASSERT_OK(dat_ia_open(const_cast<char *>(ia_name()), 1, &async, &sharing));
    EXPECT_EQ(async, b.adapter.async);
    EXPECT_OK(dat_ia_query(sharing, &found, 0, nullptr, 0, nullptr));
    EXPECT_EQ(found, b.adapter.async);
    async = DAT_EVD_ASYNC_EXISTS;
    ASSERT_OK(dat_ia_open(const_cast<char *>(ia_name()), 0, &async, &without));
    EXPECT_EQ(async, DAT_EVD_OUT_OF_SCOPE);
    EXPECT_OK(dat_ia_query(without, &found, 0, nullptr, 0, nullptr));
    EXPECT_EQ(found, DAT_EVD_OUT_OF_SCOPE);
    EXPECT_OK(dat_ia_close(without, DAT_CLOSE_GRACEFUL_FLAG));
    EXPECT_OK(dat_ia_close(sharing, DAT_CLOSE_GRACEFUL_FLAG));
    b.adapter.expect_no_async_event(); // it is still there
}

// An EVD stays as long as something feeds it, and no longer.
TEST_F(EventStreams, in_use)
{
    Objects objects;
    const Result in_use = bad_state(DAT_INVALID_STATE_EVD_IN_USE);
    for (DAT_EVD_HANDLE evd : {b.receives, b.requests, b.connections})
        EXPECT_DAT(in_use, dat_evd_free(evd));
    EXPECT_OK(dat_ep_free(b.ep));
    for (DAT_EVD_HANDLE evd : {b.receives, b.requests, b.connections})
        EXPECT_OK(dat_evd_free(evd));

    DAT_EVD_HANDLE evd = objects.side.arrivals;
    EXPECT_DAT(in_use, dat_evd_free(evd));
    EXPECT_OK(dat_psp_free(objects.of(DAT_HANDLE_TYPE_PSP)));
    EXPECT_DAT(in_use, dat_evd_free(evd));
    EXPECT_OK(dat_rsp_free(objects.of(DAT_HANDLE_TYPE_RSP)));
    EXPECT_OK(dat_evd_free(evd));
}

// A request that nobody has taken goes with its EVD.
TEST_F(EventStreams, queued_request_goes_with_the_evd)
{
    const DAT_CONN_QUAL qualifier = Objects::unused_qualifier();
    DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
    ASSERT_OK(dat_psp_create(b.adapter, qualifier, b.arrivals, DAT_PSP_CONSUMER_FLAG, &psp));
    EXPECT_OK(connect(a, qualifier));
    EXPECT_TRUE(eventually([&] {
        EXPECT_TYPE(DAT_TIMEOUT_EXPIRED, dat_evd_wait(b.arrivals, 0, 2, &event, &more));
        return more == 1;
    }));
    EXPECT_OK(dat_psp_free(psp));
    EXPECT_OK(dat_evd_free(b.arrivals));
    expect_event(a.connections, DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
}
