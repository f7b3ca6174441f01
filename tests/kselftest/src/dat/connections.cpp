// SPDX-License-Identifier: GPL-2.0
// Service points, requests, connections (udapl-functions.md sections 4 and 5).
#include "dat/support/objects.hpp"
#include "support/waiting.hpp"

#include <chrono>
#include <cstring>
#include <gtest/gtest.h>
#include <thread>
#include <vector>

using namespace rsmtest;
using namespace rsmtest::dat;

namespace {

class Connections : public testing::Test {
protected:
    DAT_CONN_QUAL listen(DAT_PSP_FLAGS flags = DAT_PSP_CONSUMER_FLAG)
    {
        DAT_CONN_QUAL qualifier = 0;
        EXPECT_OK(dat_psp_create_any(b.adapter, &qualifier, b.arrivals, flags, &psp));
        return qualifier;
    }
    DAT_CR_HANDLE arrival()
    {
        const DAT_EVENT event = expect_event(b.arrivals, DAT_CONNECTION_REQUEST_EVENT);
        return event.event_data.cr_arrival_event_data.cr_handle;
    }
    // An endpoint of the other side; its own event is still to come.
    void connect_to_b(DAT_EP_HANDLE ep)
    {
        sockaddr_in address = a.adapter.address();
        EXPECT_OK(dat_ep_connect(ep, reinterpret_cast<DAT_IA_ADDRESS_PTR>(&address), listen(),
                                 DAT_TIMEOUT_INFINITE, 0, nullptr, DAT_QOS_BEST_EFFORT,
                                 DAT_CONNECT_DEFAULT_FLAG));
        EXPECT_OK(dat_cr_accept(arrival(), b.ep, 0, nullptr));
        expect_event(b.connections, DAT_CONNECTION_EVENT_ESTABLISHED);
    }
    void expect_established()
    {
        expect_event(a.connections, DAT_CONNECTION_EVENT_ESTABLISHED);
        expect_event(b.connections, DAT_CONNECTION_EVENT_ESTABLISHED);
        EXPECT_EQ(state_of(a.ep), DAT_EP_STATE_CONNECTED);
    }
    // The attempt of `a` has failed, and it is ready for another.
    void expect_failed(DAT_EVENT_NUMBER number)
    {
        expect_event(a.connections, number);
        expect_another_may_follow();
    }
    void expect_another_may_follow()
    {
        EXPECT_EQ(state_of(a.ep), DAT_EP_STATE_DISCONNECTED);
        EXPECT_OK(dat_ep_reset(a.ep));
    }
    // The request's event, or that of its refusal.
    DAT_EVENT outcome_of_request()
    {
        const Waiting waiting("a request or its refusal");
        DAT_EVENT event{};
        while (dat_evd_dequeue(b.arrivals, &event) != DAT_SUCCESS &&
               dat_evd_dequeue(a.connections, &event) != DAT_SUCCESS)
            std::this_thread::yield();
        return event;
    }
    // A connect of `a` with this limit, and the first event: the request's, or that of the end.
    DAT_EVENT ask_for_three_seconds(DAT_CONN_QUAL qualifier)
    {
        sockaddr_in address = a.adapter.address();
        EXPECT_OK(dat_ep_connect(a.ep, reinterpret_cast<DAT_IA_ADDRESS_PTR>(&address), qualifier,
                                 after(3000), 0, nullptr, DAT_QOS_BEST_EFFORT,
                                 DAT_CONNECT_DEFAULT_FLAG));
        return outcome_of_request();
    }

    Side a;
    Side b;
    DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
};

} // namespace

TEST_F(Connections, what_the_request_says)
{
    const DAT_CONN_QUAL qualifier = listen();
    EXPECT_GT(qualifier, 0U);
    EXPECT_LT(qualifier, 65536U);
    EXPECT_OK(connect(a, qualifier, "from the active side"));
    EXPECT_EQ(state_of(a.ep), DAT_EP_STATE_ACTIVE_CONNECTION_PENDING);
    const DAT_EVENT event = expect_event(b.arrivals, DAT_CONNECTION_REQUEST_EVENT);
    const auto &data = event.event_data.cr_arrival_event_data;
    EXPECT_EQ(data.sp_handle.psp_handle, psp);
    EXPECT_EQ(data.conn_qual, qualifier);
    ASSERT_NE(data.local_ia_address_ptr, nullptr);
    EXPECT_EQ(data.local_ia_address_ptr->sa_family, AF_INET);

    DAT_CR_PARAM request{};
    EXPECT_OK(dat_cr_query(data.cr_handle, DAT_CR_FIELD_ALL, &request));
    EXPECT_EQ(request.private_data_size, 20);
    EXPECT_EQ(0, std::memcmp(request.private_data, "from the active side", 20));
    EXPECT_EQ(request.local_ep_handle, DAT_HANDLE_NULL);
    DAT_EP_PARAM active{};
    EXPECT_OK(dat_ep_query(a.ep, DAT_EP_FIELD_ALL, &active));
    EXPECT_EQ(active.local_port_qual, request.remote_port_qual);
    sockaddr_in from{};
    std::memcpy(&from, request.remote_ia_address_ptr, sizeof(from));
    EXPECT_EQ(from.sin_addr.s_addr, a.adapter.address().sin_addr.s_addr);

    char answer[] = "and back";
    EXPECT_OK(dat_cr_accept(data.cr_handle, b.ep, 8, answer));
    EXPECT_DAT(bad_handle(DAT_INVALID_HANDLE_CR), dat_cr_reject(data.cr_handle));
    const DAT_EVENT up = expect_event(a.connections, DAT_CONNECTION_EVENT_ESTABLISHED);
    EXPECT_EQ(up.event_data.connect_event_data.ep_handle, a.ep);
    EXPECT_EQ(up.event_data.connect_event_data.private_data_size, 8);
    EXPECT_EQ(0, std::memcmp(up.event_data.connect_event_data.private_data, "and back", 8));
    const DAT_EVENT passive = expect_event(b.connections, DAT_CONNECTION_EVENT_ESTABLISHED);
    EXPECT_EQ(passive.event_data.connect_event_data.private_data_size, 0);
    DAT_EP_PARAM other{};
    EXPECT_OK(dat_ep_query(b.ep, DAT_EP_FIELD_ALL, &other));
    EXPECT_EQ(other.remote_port_qual, active.local_port_qual);
}

TEST_F(Connections, private_data_of_every_size)
{
    DAT_PROVIDER_ATTR attributes{};
    EXPECT_OK(dat_ia_query(a.adapter, nullptr, 0, nullptr, DAT_PROVIDER_FIELD_ALL, &attributes));
    const auto most = static_cast<std::size_t>(attributes.max_private_data_size);
    ASSERT_GE(attributes.max_private_data_size, differences().least_private_data);
    const DAT_CONN_QUAL qualifier = listen();
    EXPECT_DAT(bad_argument(5), connect(a, qualifier, std::string(most + 1, 'x')));
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, most - 1, most}) {
        std::string sent(size, 'a');
        EXPECT_OK(connect(a, qualifier, sent));
        const DAT_CR_HANDLE cr = arrival();
        DAT_CR_PARAM request{};
        EXPECT_OK(dat_cr_query(cr, DAT_CR_FIELD_ALL, &request));
        EXPECT_EQ(static_cast<std::size_t>(request.private_data_size), size);
        std::vector<char> copy(size + 1);
        std::copy_n(static_cast<const char *>(request.private_data), size, copy.begin());
        EXPECT_DAT(bad_argument(3),
                   dat_cr_accept(cr, b.ep, static_cast<DAT_COUNT>(most + 1), copy.data()));
        EXPECT_DAT(bad_argument(3), dat_cr_accept(cr, b.ep, -1, copy.data()));
        EXPECT_DAT(bad_argument(4), dat_cr_accept(cr, b.ep, 1, nullptr));
        EXPECT_OK(dat_cr_accept(cr, b.ep, static_cast<DAT_COUNT>(size), copy.data()));
        const DAT_EVENT up = expect_event(a.connections, DAT_CONNECTION_EVENT_ESTABLISHED);
        EXPECT_EQ(static_cast<std::size_t>(up.event_data.connect_event_data.private_data_size),
                  size);
        const auto *received =
            static_cast<const char *>(up.event_data.connect_event_data.private_data);
        EXPECT_EQ(std::string_view(received, size), sent);
        expect_event(b.connections, DAT_CONNECTION_EVENT_ESTABLISHED);
        EXPECT_OK(dat_ep_disconnect(a.ep, DAT_CLOSE_ABRUPT_FLAG));
        expect_event(a.connections, DAT_CONNECTION_EVENT_DISCONNECTED);
        expect_event(b.connections, DAT_CONNECTION_EVENT_DISCONNECTED);
        EXPECT_OK(dat_ep_reset(a.ep));
        EXPECT_OK(dat_ep_reset(b.ep));
    }
}

// The memory of the data is the endpoint's. It was still pointed to after it was gone.
TEST_F(Connections, an_event_that_outlives_its_endpoint_has_no_private_data)
{
    EXPECT_OK(connect(a, listen()));
    const DAT_CR_HANDLE cr = arrival();
    std::string data = "private";
    EXPECT_OK(dat_cr_accept(cr, b.ep, static_cast<DAT_COUNT>(data.size()), data.data()));
    expect_event(b.connections, DAT_CONNECTION_EVENT_ESTABLISHED);
    while (state_of(a.ep) != DAT_EP_STATE_CONNECTED)
        std::this_thread::yield();
    EXPECT_OK(dat_ep_disconnect(a.ep, DAT_CLOSE_ABRUPT_FLAG));
    EXPECT_OK(dat_ep_reset(a.ep));
    DAT_EP_PARAM changed{};
    changed.connect_evd_handle = a.adapter.make_evd(DAT_EVD_CONNECTION_FLAG);
    EXPECT_OK(dat_ep_modify(a.ep, DAT_EP_FIELD_CONNECT_EVD_HANDLE, &changed));
    EXPECT_OK(dat_ep_free(a.ep));
    const DAT_EVENT up = expect_event(a.connections, DAT_CONNECTION_EVENT_ESTABLISHED);
    EXPECT_EQ(up.event_data.connect_event_data.private_data_size, 0);
    EXPECT_EQ(up.event_data.connect_event_data.private_data, nullptr);
    expect_event(a.connections, DAT_CONNECTION_EVENT_DISCONNECTED);
}

// An EVD for everything: a reset drops completions only.
TEST_F(Connections, a_reset_keeps_events_of_the_connection)
{
    const DAT_EVD_HANDLE all = a.adapter.make_evd(
        static_cast<DAT_EVD_FLAGS>(DAT_EVD_DTO_FLAG | DAT_EVD_CONNECTION_FLAG));
    DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
    EXPECT_OK(dat_ep_create(a.adapter, a.pz, all, all, all, nullptr, &ep));
    connect_to_b(ep);
    while (state_of(ep) != DAT_EP_STATE_CONNECTED)
        std::this_thread::yield();
    EXPECT_OK(dat_ep_disconnect(ep, DAT_CLOSE_ABRUPT_FLAG));
    EXPECT_OK(dat_ep_reset(ep));
    expect_event(all, DAT_CONNECTION_EVENT_ESTABLISHED);
    expect_event(all, DAT_CONNECTION_EVENT_DISCONNECTED);
    EXPECT_OK(dat_ep_free(ep));
}

TEST_F(Connections, rejected_by_the_consumer)
{
    EXPECT_OK(a.receive(0, 8, 1));
    EXPECT_OK(connect(a, listen()));
    EXPECT_OK(dat_cr_reject(arrival()));
    expect_completion(a.receives, 1, DAT_DTO_ERR_FLUSHED);
    expect_failed(DAT_CONNECTION_EVENT_PEER_REJECTED);
}

TEST_F(Connections, nobody_listens)
{
    EXPECT_OK(connect(a, 4242));
    expect_failed(DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
    const DAT_CONN_QUAL qualifier = listen();
    EXPECT_OK(dat_psp_free(psp));
    EXPECT_OK(connect(a, qualifier));
    expect_failed(DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
}

// A connect finds a server that listens a moment later. On a slow machine the provider may refuse a
// request before this thread goes on; then the test repeats it.
TEST_F(Connections, server_that_listens_a_moment_later)
{
    bool met = false;
    while (!met) {
        const DAT_CONN_QUAL qualifier = Objects::unused_qualifier();
        ASSERT_OK(connect(a, qualifier));
        // Time for the first look-up, which finds nobody.
        std::this_thread::sleep_for(std::chrono::milliseconds(15));
        ASSERT_OK(dat_psp_create(b.adapter, qualifier, b.arrivals, DAT_PSP_CONSUMER_FLAG, &psp));
        const DAT_EVENT event = outcome_of_request();
        met = event.event_number == DAT_CONNECTION_REQUEST_EVENT;
        if (met) {
            EXPECT_OK(dat_cr_accept(event.event_data.cr_arrival_event_data.cr_handle, b.ep, 0,
                                    nullptr));
            expect_established();
        } else {
            EXPECT_EQ(event.event_number, DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
            expect_another_may_follow();
        }
        EXPECT_OK(dat_psp_free(psp));
        ASSERT_FALSE(HasFailure());
    }
}

TEST_F(Connections, an_address_that_leads_nowhere)
{
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(0xC6336407); // 198.51.100.7, for documentation
    EXPECT_OK(dat_ep_connect(a.ep, reinterpret_cast<DAT_IA_ADDRESS_PTR>(&address), 4242,
                             after(2000), 0, nullptr, DAT_QOS_BEST_EFFORT,
                             DAT_CONNECT_DEFAULT_FLAG));
    expect_failed(DAT_CONNECTION_EVENT_UNREACHABLE);
}

TEST_F(Connections, any_port_in_the_address_will_do)
{
    sockaddr_in address = a.adapter.address();
    address.sin_port = htons(12345);
    EXPECT_OK(dat_ep_connect(a.ep, reinterpret_cast<DAT_IA_ADDRESS_PTR>(&address), listen(),
                             DAT_TIMEOUT_INFINITE, 0, nullptr, DAT_QOS_BEST_EFFORT,
                             DAT_CONNECT_DEFAULT_FLAG));
    EXPECT_OK(dat_cr_accept(arrival(), b.ep, 0, nullptr));
    expect_established();
}

// On a slow machine the time may be over before the request is there; then the test connects again.
TEST_F(Connections, nobody_answers_in_time)
{
    const DAT_CONN_QUAL qualifier = listen();
    auto began = std::chrono::steady_clock::now();
    DAT_EVENT event = ask_for_three_seconds(qualifier);
    while (event.event_number == DAT_CONNECTION_EVENT_TIMED_OUT) {
        expect_another_may_follow();
        began = std::chrono::steady_clock::now();
        event = ask_for_three_seconds(qualifier);
    }
    ASSERT_EQ(event.event_number, DAT_CONNECTION_REQUEST_EVENT);
    expect_failed(DAT_CONNECTION_EVENT_TIMED_OUT);
    EXPECT_GE(std::chrono::steady_clock::now() - began, scaled(3000));
    EXPECT_OK(dat_cr_accept(event.event_data.cr_arrival_event_data.cr_handle, b.ep, 0, nullptr));
    expect_event(b.connections, DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR);
    EXPECT_EQ(state_of(b.ep), DAT_EP_STATE_DISCONNECTED);
}

TEST_F(Connections, disconnected_while_it_is_asked_for)
{
    EXPECT_OK(connect(a, listen()));
    const DAT_CR_HANDLE cr = arrival();
    EXPECT_OK(dat_ep_disconnect(a.ep, DAT_CLOSE_GRACEFUL_FLAG));
    expect_failed(DAT_CONNECTION_EVENT_DISCONNECTED);
    EXPECT_OK(dat_cr_reject(cr));
}

TEST_F(Connections, explicit_qualifiers_use_all_their_bits_and_are_exclusive)
{
    DAT_PSP_HANDLE points[3];
    const bool ports = differences().qualifiers_are_ports;
    const DAT_CONN_QUAL top = ports ? 0x8000 : 0x8000000000000000;
    const DAT_CONN_QUAL qualifiers[] = {77, 2 * top - 77, 2 * top - 1};
    for (int i = 0; i < 3; i++)
        EXPECT_OK(dat_psp_create(b.adapter, qualifiers[i], b.arrivals, DAT_PSP_CONSUMER_FLAG,
                                 &points[i]));
    DAT_PSP_HANDLE again = DAT_HANDLE_NULL;
    EXPECT_DAT(error(DAT_CONN_QUAL_IN_USE),
               dat_psp_create(b.adapter, qualifiers[1], b.arrivals, DAT_PSP_CONSUMER_FLAG, &again));
    EXPECT_DAT(error(DAT_CONN_QUAL_IN_USE),
               dat_psp_create(a.adapter, qualifiers[1], a.arrivals, DAT_PSP_CONSUMER_FLAG, &again));
    EXPECT_DAT(bad_argument(2),
               dat_psp_create(b.adapter, 0, b.arrivals, DAT_PSP_CONSUMER_FLAG, &again));
    if (ports) {
        EXPECT_DAT(bad_argument(2),
                   dat_psp_create(b.adapter, 2 * top, b.arrivals, DAT_PSP_CONSUMER_FLAG, &again));
        EXPECT_DAT(error(DAT_CONN_QUAL_IN_USE),
                   dat_psp_create(b.adapter, 2 * top + qualifiers[1], b.arrivals,
                                  DAT_PSP_CONSUMER_FLAG, &again));
        EXPECT_OK(connect(a, 2 * top));
        expect_failed(DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
    }
    EXPECT_OK(connect(a, qualifiers[1]));
    const DAT_EVENT event = expect_event(b.arrivals, DAT_CONNECTION_REQUEST_EVENT);
    EXPECT_EQ(event.event_data.cr_arrival_event_data.sp_handle.psp_handle, points[1]);
    EXPECT_OK(dat_cr_accept(event.event_data.cr_arrival_event_data.cr_handle, b.ep, 0, nullptr));
    expect_established();
    for (DAT_PSP_HANDLE point : points)
        EXPECT_OK(dat_psp_free(point));
    EXPECT_OK(dat_psp_create(a.adapter, qualifiers[1], a.arrivals, DAT_PSP_CONSUMER_FLAG, &again));
}

TEST_F(Connections, qualifiers_of_more_than_16_bits_are_served)
{
    const DAT_CONN_QUAL qualifier = 0x123450000 + 40077;
    DAT_PSP_HANDLE point = DAT_HANDLE_NULL;
    EXPECT_OK(dat_psp_create(b.adapter, qualifier, b.arrivals, DAT_PSP_CONSUMER_FLAG, &point));
    DAT_PSP_PARAM param{};
    EXPECT_OK(dat_psp_query(point, DAT_PSP_FIELD_ALL, &param));
    EXPECT_EQ(param.conn_qual, qualifier);
    EXPECT_OK(connect(a, qualifier));
    const DAT_EVENT event = expect_event(b.arrivals, DAT_CONNECTION_REQUEST_EVENT);
    EXPECT_EQ(event.event_data.cr_arrival_event_data.conn_qual, qualifier);
    EXPECT_OK(dat_cr_accept(event.event_data.cr_arrival_event_data.cr_handle, b.ep, 0, nullptr));
    expect_established();
    EXPECT_OK(dat_psp_free(point));
}

TEST_F(Connections, handed_off_to_another_qualifier)
{
    const DAT_CONN_QUAL first = listen();
    DAT_CONN_QUAL second = 0;
    DAT_PSP_HANDLE other = DAT_HANDLE_NULL;
    EXPECT_OK(dat_psp_create_any(b.adapter, &second, b.arrivals, DAT_PSP_CONSUMER_FLAG, &other));
    EXPECT_OK(connect(a, first, "luggage"));
    EXPECT_OK(dat_cr_handoff(arrival(), second));
    const DAT_EVENT event = expect_event(b.arrivals, DAT_CONNECTION_REQUEST_EVENT);
    EXPECT_EQ(event.event_data.cr_arrival_event_data.sp_handle.psp_handle, other);
    const DAT_CR_HANDLE cr = event.event_data.cr_arrival_event_data.cr_handle;
    DAT_CR_PARAM request{};
    EXPECT_OK(dat_cr_query(cr, DAT_CR_FIELD_ALL, &request));
    EXPECT_EQ(request.private_data_size, 7);
    EXPECT_OK(dat_cr_accept(cr, b.ep, 0, nullptr));
    expect_established();
}

TEST_F(Connections, handed_off_to_nobody)
{
    EXPECT_OK(connect(a, listen()));
    EXPECT_OK(dat_cr_handoff(arrival(), 31));
    expect_failed(DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
}

TEST_F(Connections, reserved_service_point)
{
    DAT_RSP_HANDLE rsp = DAT_HANDLE_NULL;
    EXPECT_OK(dat_rsp_create(b.adapter, 999, b.ep, b.arrivals, &rsp));
    EXPECT_EQ(state_of(b.ep), DAT_EP_STATE_RESERVED);
    EXPECT_DAT(bad_state(DAT_INVALID_STATE_EP_RESERVED), dat_ep_free(b.ep));
    EXPECT_OK(connect(a, 999));
    const DAT_EVENT event = expect_event(b.arrivals, DAT_CONNECTION_REQUEST_EVENT);
    EXPECT_EQ(event.event_data.cr_arrival_event_data.sp_handle.rsp_handle, rsp);
    const DAT_CR_HANDLE cr = event.event_data.cr_arrival_event_data.cr_handle;
    EXPECT_EQ(state_of(b.ep), DAT_EP_STATE_PASSIVE_CONNECTION_PENDING);
    DAT_CR_PARAM request{};
    EXPECT_OK(dat_cr_query(cr, DAT_CR_FIELD_ALL, &request));
    EXPECT_EQ(request.local_ep_handle, b.ep);
    EXPECT_DAT(bad_handle(DAT_INVALID_HANDLE_EP), dat_cr_accept(cr, b.ep, 0, nullptr));
    EXPECT_OK(dat_cr_accept(cr, DAT_HANDLE_NULL, 0, nullptr));
    expect_established();
    EXPECT_OK(dat_rsp_free(rsp));
    EXPECT_EQ(state_of(b.ep), DAT_EP_STATE_CONNECTED);
}

TEST_F(Connections, reserved_service_point_given_up_or_rejecting)
{
    DAT_RSP_HANDLE rsp = DAT_HANDLE_NULL;
    EXPECT_OK(dat_rsp_create(b.adapter, 999, b.ep, b.arrivals, &rsp));
    EXPECT_OK(dat_rsp_free(rsp));
    EXPECT_EQ(state_of(b.ep), DAT_EP_STATE_UNCONNECTED);
    EXPECT_OK(dat_rsp_create(b.adapter, 999, b.ep, b.arrivals, &rsp));
    EXPECT_OK(connect(a, 999));
    EXPECT_OK(dat_cr_reject(arrival()));
    EXPECT_EQ(state_of(b.ep), DAT_EP_STATE_UNCONNECTED);
    expect_failed(DAT_CONNECTION_EVENT_PEER_REJECTED);
    EXPECT_OK(dat_rsp_free(rsp));
}

TEST_F(Connections, provider_makes_the_endpoint)
{
    const DAT_CONN_QUAL qualifier = listen(DAT_PSP_PROVIDER_FLAG);
    EXPECT_OK(connect(a, qualifier));
    const DAT_CR_HANDLE cr = arrival();
    DAT_CR_PARAM request{};
    EXPECT_OK(dat_cr_query(cr, DAT_CR_FIELD_ALL, &request));
    const DAT_EP_HANDLE made = request.local_ep_handle;
    ASSERT_NE(made, DAT_HANDLE_NULL);
    EXPECT_EQ(state_of(made), DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING);
    EXPECT_DAT(bad_handle(DAT_INVALID_HANDLE_EP), dat_cr_accept(cr, DAT_HANDLE_NULL, 0, nullptr));
    DAT_EP_PARAM param{};
    param.pz_handle = b.pz;
    param.recv_evd_handle = b.receives;
    param.request_evd_handle = b.requests;
    param.connect_evd_handle = b.connections;
    EXPECT_OK(dat_ep_modify(made,
                            DAT_EP_FIELD_PZ_HANDLE | DAT_EP_FIELD_RECV_EVD_HANDLE |
                                DAT_EP_FIELD_REQUEST_EVD_HANDLE | DAT_EP_FIELD_CONNECT_EVD_HANDLE,
                            &param));
    EXPECT_OK(dat_cr_accept(cr, DAT_HANDLE_NULL, 0, nullptr));
    expect_established();
    EXPECT_OK(dat_ep_free(made));
    expect_event(a.connections, DAT_CONNECTION_EVENT_DISCONNECTED);
}

TEST_F(Connections, a_second_one_like_the_first)
{
    const DAT_CONN_QUAL qualifier = listen();
    EXPECT_OK(connect(a, qualifier));
    EXPECT_OK(dat_cr_accept(arrival(), b.ep, 0, nullptr));
    expect_established();
    DAT_EP_HANDLE more = DAT_HANDLE_NULL;
    EXPECT_OK(
        dat_ep_create(a.adapter, a.pz, a.receives, a.requests, a.connections, nullptr, &more));
    EXPECT_TYPE(DAT_INVALID_STATE,
                dat_ep_dup_connect(a.ep, more, DAT_TIMEOUT_INFINITE, 0, nullptr, DAT_QOS_BEST_EFFORT));
    EXPECT_OK(dat_ep_dup_connect(more, a.ep, DAT_TIMEOUT_INFINITE, 0, nullptr, DAT_QOS_BEST_EFFORT));
    DAT_EP_HANDLE other = DAT_HANDLE_NULL;
    EXPECT_OK(
        dat_ep_create(b.adapter, b.pz, b.receives, b.requests, b.connections, nullptr, &other));
    EXPECT_OK(dat_cr_accept(arrival(), other, 0, nullptr));
    const DAT_EVENT up = expect_event(a.connections, DAT_CONNECTION_EVENT_ESTABLISHED);
    EXPECT_EQ(up.event_data.connect_event_data.ep_handle, more);
    expect_event(b.connections, DAT_CONNECTION_EVENT_ESTABLISHED);
}

TEST_F(Connections, a_full_queue_of_requests_refuses_more)
{
    EXPECT_OK(dat_evd_resize(b.arrivals, 1));
    DAT_EVD_PARAM evd{};
    EXPECT_OK(dat_evd_query(b.arrivals, DAT_EVD_FIELD_ALL, &evd));
    const DAT_CONN_QUAL qualifier = listen();
    std::vector<DAT_EP_HANDLE> endpoints;
    for (DAT_COUNT i = 0; i <= evd.evd_qlen; i++) {
        Side &side = a;
        DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
        EXPECT_OK(dat_ep_create(side.adapter, side.pz, side.receives, side.requests,
                                side.connections, nullptr, &ep));
        endpoints.push_back(ep);
        sockaddr_in address = a.adapter.address();
        EXPECT_OK(dat_ep_connect(ep, reinterpret_cast<DAT_IA_ADDRESS_PTR>(&address), qualifier,
                                 DAT_TIMEOUT_INFINITE, 0, nullptr, DAT_QOS_BEST_EFFORT,
                                 DAT_CONNECT_DEFAULT_FLAG));
    }
    expect_event(a.connections, DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
    for (DAT_COUNT i = 0; i < evd.evd_qlen; i++)
        EXPECT_OK(dat_cr_reject(arrival()));
    for (DAT_COUNT i = 0; i < evd.evd_qlen; i++)
        expect_event(a.connections, DAT_CONNECTION_EVENT_PEER_REJECTED);
}

TEST_F(Connections, early_data_comes_after_established)
{
    DAT_EVD_HANDLE all = a.adapter.make_evd(DAT_EVD_DTO_FLAG | DAT_EVD_CONNECTION_FLAG);
    DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
    EXPECT_OK(dat_ep_create(a.adapter, a.pz, all, all, all, nullptr, &ep));
    DAT_LMR_TRIPLET piece = a.memory.piece(0, 8);
    EXPECT_OK(dat_ep_post_recv(ep, 1, &piece, cookie(1), DAT_COMPLETION_DEFAULT_FLAG));
    connect_to_b(ep);
    EXPECT_OK(b.send(0, 8, 2));
    expect_event(all, DAT_CONNECTION_EVENT_ESTABLISHED);
    expect_completion(all, 1);
}

TEST_F(Connections, freeing_an_endpoint_hangs_up)
{
    b.accept_from(a);
    EXPECT_OK(b.receive(0, 8, 1));
    EXPECT_OK(dat_ep_free(a.ep));
    expect_completion(b.receives, 1, DAT_DTO_ERR_FLUSHED);
    expect_event(b.connections, DAT_CONNECTION_EVENT_DISCONNECTED);
    EXPECT_DAT(bad_handle(DAT_INVALID_HANDLE_EP), dat_ep_free(a.ep));
}

TEST_F(Connections, a_hundred_times)
{
    for (int i = 0; i < 100; i++) {
        b.accept_from(a);
        EXPECT_OK(dat_ep_disconnect(a.ep, DAT_CLOSE_ABRUPT_FLAG));
        expect_event(a.connections, DAT_CONNECTION_EVENT_DISCONNECTED);
        expect_event(b.connections, DAT_CONNECTION_EVENT_DISCONNECTED);
        ASSERT_OK(dat_ep_reset(a.ep));
        ASSERT_OK(dat_ep_reset(b.ep));
    }
}
