// SPDX-License-Identifier: GPL-2.0
#include "dat/support/stage.hpp"

namespace rsmtest::dat {

namespace {

DAT_CR_HANDLE next_request(const Side &side)
{
    return expect_event(side.arrivals, DAT_CONNECTION_REQUEST_EVENT)
        .event_data.cr_arrival_event_data.cr_handle;
}

// Ends with the test.
void ask_and_hold(Link &link)
{
    const DAT_CONN_QUAL qualifier = link.receive();
    Side side;
    EXPECT_OK(connect(side, qualifier));
    link.send();
    link.receive();
}

} // namespace

DAT_EP_STATE number_of(At state)
{
    constexpr DAT_EP_STATE numbers[] = {DAT_EP_STATE_UNCONNECTED,
                                        DAT_EP_STATE_RESERVED,
                                        DAT_EP_STATE_PASSIVE_CONNECTION_PENDING,
                                        DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING,
                                        DAT_EP_STATE_ACTIVE_CONNECTION_PENDING,
                                        DAT_EP_STATE_COMPLETION_PENDING,
                                        DAT_EP_STATE_CONNECTED,
                                        DAT_EP_STATE_DISCONNECT_PENDING,
                                        DAT_EP_STATE_DISCONNECTED};
    return numbers[static_cast<int>(state)];
}

DAT_RETURN_SUBTYPE subtype_of(At state)
{
    constexpr DAT_RETURN_SUBTYPE subtypes[] = {
        DAT_INVALID_STATE_EP_UNCONNECTED,     DAT_INVALID_STATE_EP_RESERVED,
        DAT_INVALID_STATE_EP_PASSCONNPENDING, DAT_INVALID_STATE_EP_TENTCONNPENDING,
        DAT_INVALID_STATE_EP_ACTCONNPENDING,  DAT_INVALID_STATE_EP_COMPLPENDING,
        DAT_INVALID_STATE_EP_CONNECTED,       DAT_INVALID_STATE_EP_DISCPENDING,
        DAT_INVALID_STATE_EP_DISCONNECTED};
    return subtypes[static_cast<int>(state)];
}

StoppedPeer::StoppedPeer() : child_(ask_and_hold) {}

DAT_CR_HANDLE StoppedPeer::request(Side &side)
{
    const DAT_CONN_QUAL qualifier = Objects::unused_qualifier();
    DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
    EXPECT_OK(dat_psp_create(side.adapter, qualifier, side.arrivals, DAT_PSP_CONSUMER_FLAG, &psp));
    child_.send(qualifier);
    child_.receive();
    const DAT_CR_HANDLE cr = next_request(side);
    child_.stop();
    EXPECT_OK(dat_psp_free(psp));
    return cr;
}

Stage::Stage(At state, StoppedPeer *stopped)
{
    ep = near.ep;
    arrive(state, stopped);
    EXPECT_EQ(state_of(ep), number_of(state)) << state_names[static_cast<int>(state)];
}

void Stage::arrive(At state, StoppedPeer *stopped)
{
    switch (state) {
    case At::UN:
        return;
    case At::RE:
        reserve();
        return;
    case At::PA:
        return take_request(reserve());
    case At::TE:
        return become_tentative();
    case At::AC:
        return become_active();
    case At::CP:
        EXPECT_OK(dat_cr_accept(stopped->request(near), ep, 0, nullptr));
        return;
    default:
        near.accept_from(far);
    }
    if (state == At::DP)
        become_disconnect_pending();
    if (state != At::DI)
        return;
    EXPECT_OK(dat_ep_disconnect(ep, DAT_CLOSE_ABRUPT_FLAG));
    expect_event(near.connections, DAT_CONNECTION_EVENT_DISCONNECTED);
}

DAT_CONN_QUAL Stage::reserve()
{
    const DAT_CONN_QUAL qualifier = Objects::unused_qualifier();
    EXPECT_OK(dat_rsp_create(near.adapter, qualifier, ep, near.arrivals, &rsp));
    return qualifier;
}

void Stage::take_request(DAT_CONN_QUAL qualifier)
{
    EXPECT_OK(connect(far, qualifier));
    cr = next_request(near);
}

// With all that the consumer has to give to the provider's endpoint.
void Stage::become_tentative()
{
    const DAT_CONN_QUAL qualifier = Objects::unused_qualifier();
    DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
    DAT_CR_PARAM request{};
    DAT_EP_PARAM param{};
    EXPECT_OK(dat_psp_create(near.adapter, qualifier, near.arrivals, DAT_PSP_PROVIDER_FLAG, &psp));
    take_request(qualifier);
    EXPECT_OK(dat_cr_query(cr, DAT_CR_FIELD_ALL, &request));
    ep = request.local_ep_handle;
    EXPECT_OK(dat_ep_query(ep, DAT_EP_FIELD_ALL, &param));
    EXPECT_EQ(param.pz_handle, DAT_HANDLE_NULL);
    EXPECT_EQ(param.recv_evd_handle, DAT_HANDLE_NULL);
    EXPECT_EQ(param.request_evd_handle, DAT_HANDLE_NULL);
    EXPECT_EQ(param.connect_evd_handle, DAT_HANDLE_NULL);
    param.pz_handle = near.pz;
    param.recv_evd_handle = near.receives;
    param.request_evd_handle = near.requests;
    param.connect_evd_handle = near.connections;
    EXPECT_OK(dat_ep_modify(ep,
                            DAT_EP_FIELD_PZ_HANDLE | DAT_EP_FIELD_RECV_EVD_HANDLE |
                                DAT_EP_FIELD_REQUEST_EVD_HANDLE | DAT_EP_FIELD_CONNECT_EVD_HANDLE,
                            &param));
}

void Stage::become_active()
{
    const DAT_CONN_QUAL qualifier = Objects::unused_qualifier();
    DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
    EXPECT_OK(dat_psp_create(far.adapter, qualifier, far.arrivals, DAT_PSP_CONSUMER_FLAG, &psp));
    EXPECT_OK(connect(near, qualifier));
    next_request(far);
}

// A send that the peer has no receive for keeps the connection up.
void Stage::become_disconnect_pending()
{
    EXPECT_OK(near.send(0, 8, 1));
    EXPECT_OK(dat_ep_disconnect(ep, DAT_CLOSE_GRACEFUL_FLAG));
}

DAT_EP_HANDLE Stage::another_ep()
{
    DAT_EP_HANDLE made = DAT_HANDLE_NULL;
    EXPECT_OK(dat_ep_create(near.adapter, near.pz, near.receives, near.requests, near.connections,
                            nullptr, &made));
    return made;
}

DAT_CR_HANDLE Stage::request()
{
    const DAT_CONN_QUAL qualifier = Objects::unused_qualifier();
    DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
    DAT_EP_HANDLE asking = DAT_HANDLE_NULL;
    sockaddr_in address = near.adapter.address();
    EXPECT_OK(dat_psp_create(near.adapter, qualifier, near.arrivals, DAT_PSP_CONSUMER_FLAG, &psp));
    EXPECT_OK(dat_ep_create(far.adapter, far.pz, far.receives, far.requests, far.connections,
                            nullptr, &asking));
    EXPECT_OK(dat_ep_connect(asking, reinterpret_cast<DAT_IA_ADDRESS_PTR>(&address), qualifier,
                             DAT_TIMEOUT_INFINITE, 0, nullptr, DAT_QOS_BEST_EFFORT,
                             DAT_CONNECT_DEFAULT_FLAG));
    return next_request(near);
}

} // namespace rsmtest::dat
