// SPDX-License-Identifier: GPL-2.0
// Answers of the functions of endpoints and service points to bad arguments, in the order in which
// they look at them (udapl-functions.md sections 10.4 and 10.7).
#include "dat/support/objects.hpp"

#include <gtest/gtest.h>

using namespace rsmtest;
using namespace rsmtest::dat;

namespace {

using Change = void (*)(DAT_EP_ATTR &attributes);

// No endpoint has any of these.
const Change bad_attributes[] = {
    [](DAT_EP_ATTR &a) { a.service_type = bits<DAT_SERVICE_TYPE>(1); },
    [](DAT_EP_ATTR &a) { a.max_message_size = ~DAT_VLEN{0}; },
    [](DAT_EP_ATTR &a) { a.max_rdma_size = ~DAT_VLEN{0}; },
    [](DAT_EP_ATTR &a) { a.qos = bits<DAT_QOS>(0x10); },
    [](DAT_EP_ATTR &a) { a.recv_completion_flags = DAT_COMPLETION_SUPPRESS_FLAG; },
    [](DAT_EP_ATTR &a) { a.recv_completion_flags = DAT_COMPLETION_BARRIER_FENCE_FLAG; },
    [](DAT_EP_ATTR &a) { a.recv_completion_flags = bits<DAT_COMPLETION_FLAGS>(0x40); },
    [](DAT_EP_ATTR &a) { a.request_completion_flags = DAT_COMPLETION_SOLICITED_WAIT_FLAG; },
    [](DAT_EP_ATTR &a) { a.request_completion_flags = DAT_COMPLETION_SUPPRESS_FLAG; },
    [](DAT_EP_ATTR &a) { a.max_request_dtos = -1; },
    [](DAT_EP_ATTR &a) { a.max_request_dtos = INT32_MAX; },
    [](DAT_EP_ATTR &a) { a.max_request_iov = 0; },
    [](DAT_EP_ATTR &a) { a.max_request_iov = -1; },
    [](DAT_EP_ATTR &a) { a.max_request_iov = INT32_MAX; },
    [](DAT_EP_ATTR &a) { a.max_rdma_read_in = -1; },
    [](DAT_EP_ATTR &a) { a.max_rdma_read_in = INT32_MAX; },
    [](DAT_EP_ATTR &a) { a.max_rdma_read_out = -1; },
    [](DAT_EP_ATTR &a) { a.max_rdma_read_out = INT32_MAX; },
    [](DAT_EP_ATTR &a) { a.max_rdma_read_iov = INT32_MAX; },
    [](DAT_EP_ATTR &a) { a.max_rdma_write_iov = -2; },
};

// Only without an SRQ, and when it is made: later, queue and EVD may come one after the other.
const Change bad_to_create_with[] = {
    [](DAT_EP_ATTR &a) { a.max_request_dtos = 0; },
    [](DAT_EP_ATTR &a) { a.max_recv_dtos = 0; },
    [](DAT_EP_ATTR &a) { a.max_recv_dtos = -1; },
    [](DAT_EP_ATTR &a) { a.max_recv_dtos = INT32_MAX; },
    [](DAT_EP_ATTR &a) { a.max_recv_iov = 0; },
    [](DAT_EP_ATTR &a) { a.max_recv_iov = INT32_MAX; },
};

class ArgumentsEndpoints : public testing::Test {
protected:
    DAT_RETURN create(const DAT_EP_ATTR *attributes, DAT_EP_HANDLE *ep) const
    {
        return dat_ep_create(side.adapter, side.pz, side.receives, side.requests, side.connections,
                             attributes, ep);
    }
    DAT_RETURN create_with_srq(const DAT_EP_ATTR *attributes, DAT_EP_HANDLE *ep) const
    {
        return dat_ep_create_with_srq(side.adapter, side.pz, side.receives, side.requests,
                                      side.connections, objects.of(DAT_HANDLE_TYPE_SRQ), attributes,
                                      ep);
    }

    Objects objects;
    Side &side = objects.side;
    const DAT_EP_ATTR good = default_attributes(side.adapter);
};

} // namespace

TEST_F(ArgumentsEndpoints, create)
{
    DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
    DAT_EP_ATTR attributes = good;
    attributes.max_request_iov = 0;
    EXPECT_DAT(bad_argument(7), create(&attributes, nullptr));
    for (const Change change : bad_attributes) {
        attributes = good;
        change(attributes);
        EXPECT_DAT(bad_argument(6), create(&attributes, &ep));
    }
    for (const Change change : bad_to_create_with) {
        attributes = good;
        change(attributes);
        EXPECT_DAT(bad_argument(6), create(&attributes, &ep));
    }
    attributes = good;
    attributes.qos = DAT_QOS_LOW_LATENCY;
    EXPECT_DAT(error(DAT_MODEL_NOT_SUPPORTED), create(&attributes, &ep));
    EXPECT_OK(create(&good, &ep));
}

// A queue without an EVD to tell of it, and the other way round.
TEST_F(ArgumentsEndpoints, create_without_evds)
{
    DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
    EXPECT_DAT(bad_argument(6), dat_ep_create(side.adapter, side.pz, DAT_HANDLE_NULL, side.requests,
                                              side.connections, &good, &ep));
    EXPECT_DAT(bad_argument(6), dat_ep_create(side.adapter, side.pz, side.receives, DAT_HANDLE_NULL,
                                              side.connections, &good, &ep));
    DAT_EP_PARAM param{};
    EXPECT_OK(dat_ep_create(side.adapter, DAT_HANDLE_NULL, DAT_HANDLE_NULL, DAT_HANDLE_NULL,
                            DAT_HANDLE_NULL, nullptr, &ep));
    EXPECT_OK(dat_ep_query(ep, DAT_EP_FIELD_ALL, &param));
    EXPECT_EQ(param.ep_attr.max_recv_dtos, 0);
    EXPECT_EQ(param.ep_attr.max_request_dtos, 0);
    EXPECT_EQ(param.pz_handle, DAT_HANDLE_NULL);
}

TEST_F(ArgumentsEndpoints, create_with_srq)
{
    DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
    DAT_EP_ATTR attributes = good;
    EXPECT_DAT(bad_argument(8), create_with_srq(nullptr, nullptr));
    EXPECT_DAT(bad_argument(7), create_with_srq(nullptr, &ep));
    for (const Change change : bad_attributes) {
        attributes = good;
        change(attributes);
        EXPECT_DAT(bad_argument(7), create_with_srq(&attributes, &ep));
    }
    attributes = good;
    attributes.max_recv_iov = -1; // ignored
    attributes.max_recv_dtos = DAT_HW_DEFAULT;
    EXPECT_OK(create_with_srq(&attributes, &ep));
    DAT_LMR_TRIPLET piece = side.memory.piece(0, 8);
    EXPECT_DAT(bad_state(),
               dat_ep_post_recv(ep, 1, &piece, cookie(1), DAT_COMPLETION_DEFAULT_FLAG));
    EXPECT_DAT(bad_state(DAT_INVALID_STATE_SRQ_IN_USE),
               dat_srq_free(objects.of(DAT_HANDLE_TYPE_SRQ)));
    EXPECT_OK(dat_ep_free(ep));
    EXPECT_OK(dat_srq_free(objects.of(DAT_HANDLE_TYPE_SRQ)));
}

TEST_F(ArgumentsEndpoints, modify)
{
    const DAT_EP_PARAM_MASK never[] = {DAT_EP_FIELD_IA_HANDLE,
                                       DAT_EP_FIELD_EP_STATE,
                                       DAT_EP_FIELD_LOCAL_IA_ADDRESS_PTR,
                                       DAT_EP_FIELD_LOCAL_PORT_QUAL,
                                       DAT_EP_FIELD_REMOTE_IA_ADDRESS_PTR,
                                       DAT_EP_FIELD_REMOTE_PORT_QUAL,
                                       DAT_EP_FIELD_SRQ_HANDLE,
                                       DAT_EP_FIELD_EP_ATTR_SRQ_SOFT_HW,
                                       0x800,
                                       DAT_EP_FIELD_ALL + 1,
                                       DAT_EP_PARAM_MASK{1} << 63};
    DAT_EP_PARAM param{};
    EXPECT_OK(dat_ep_query(side.ep, DAT_EP_FIELD_ALL, &param));
    for (const DAT_EP_PARAM_MASK bit : never) {
        EXPECT_DAT(bad_argument(2), dat_ep_modify(side.ep, bit, &param)) << std::hex << bit;
        EXPECT_DAT(bad_argument(2), dat_ep_modify(side.ep, bit | DAT_EP_FIELD_PZ_HANDLE, nullptr));
    }
    EXPECT_DAT(bad_argument(3), dat_ep_modify(side.ep, DAT_EP_FIELD_PZ_HANDLE, nullptr));
    EXPECT_OK(dat_ep_modify(side.ep, 0, &param));
    for (const Change change : bad_attributes) {
        DAT_EP_PARAM changed = param;
        change(changed.ep_attr);
        constexpr DAT_EP_PARAM_MASK all =
            DAT_EP_FIELD_EP_ATTR_ALL & ~DAT_EP_FIELD_EP_ATTR_SRQ_SOFT_HW;
        EXPECT_DAT(bad_argument(3), dat_ep_modify(side.ep, all, &changed));
    }
}

// All or nothing.
TEST_F(ArgumentsEndpoints, modify_that_fails_changes_nothing)
{
    DAT_EP_PARAM before{};
    DAT_EP_PARAM after{};
    EXPECT_OK(dat_ep_query(side.ep, DAT_EP_FIELD_ALL, &before));
    DAT_EP_PARAM wanted = before;
    wanted.pz_handle = side.adapter.make_pz();
    wanted.ep_attr.max_request_dtos = 99;
    wanted.connect_evd_handle = side.requests;
    EXPECT_DAT(bad_argument(3),
               dat_ep_modify(side.ep,
                             DAT_EP_FIELD_PZ_HANDLE | DAT_EP_FIELD_CONNECT_EVD_HANDLE |
                                 DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_DTOS,
                             &wanted));
    EXPECT_OK(dat_ep_query(side.ep, DAT_EP_FIELD_ALL, &after));
    EXPECT_EQ(after.pz_handle, before.pz_handle);
    EXPECT_EQ(after.connect_evd_handle, before.connect_evd_handle);
    EXPECT_EQ(after.ep_attr.max_request_dtos, before.ep_attr.max_request_dtos);

    EXPECT_OK(dat_ep_modify(side.ep, DAT_EP_FIELD_PZ_HANDLE, &wanted));
    EXPECT_DAT(bad_state(DAT_INVALID_STATE_PZ_IN_USE), dat_pz_free(wanted.pz_handle));
    EXPECT_OK(dat_ep_modify(side.ep, DAT_EP_FIELD_PZ_HANDLE, &before));
    EXPECT_OK(dat_pz_free(wanted.pz_handle));
}

TEST_F(ArgumentsEndpoints, connect)
{
    sockaddr_in own = side.adapter.address();
    sockaddr strange{};
    const auto address = reinterpret_cast<DAT_IA_ADDRESS_PTR>(&own);
    const auto bad_qos = bits<DAT_QOS>(0x10);
    const auto bad_flags = bits<DAT_CONNECT_FLAGS>(2);
    const auto call = [&](DAT_IA_ADDRESS_PTR to, DAT_TIMEOUT timeout, DAT_COUNT size,
                          DAT_PVOID data, DAT_QOS qos, DAT_CONNECT_FLAGS flags) {
        return dat_ep_connect(side.ep, to, 77, timeout, size, data, qos, flags);
    };
    EXPECT_DAT(bad_argument(2), call(nullptr, 0, -1, nullptr, bad_qos, bad_flags));
    EXPECT_DAT(error(DAT_MODEL_NOT_SUPPORTED),
               call(address, 0, -1, nullptr, bad_qos, DAT_CONNECT_MULTIPATH_FLAG));
    EXPECT_DAT(error(DAT_MODEL_NOT_SUPPORTED),
               call(address, 0, -1, nullptr, DAT_QOS_PREMIUM, bad_flags));
    EXPECT_DAT(bad_argument(4), call(address, 0, -1, nullptr, bad_qos, bad_flags));
    EXPECT_DAT(bad_argument(5), call(address, 1000, -1, nullptr, bad_qos, bad_flags));
    EXPECT_DAT(bad_argument(5), call(address, 1000, INT32_MAX, nullptr, bad_qos, bad_flags));
    EXPECT_DAT(bad_argument(6), call(address, 1000, 1, nullptr, bad_qos, bad_flags));
    EXPECT_DAT(bad_argument(7), call(address, 1000, 0, nullptr, bad_qos, bad_flags));
    EXPECT_DAT(bad_argument(8), call(address, 1000, 0, nullptr, DAT_QOS_BEST_EFFORT, bad_flags));
    strange.sa_family = AF_UNIX;
    EXPECT_TYPE(DAT_INVALID_ADDRESS,
                call(&strange, 1000, 0, nullptr, DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG));
    EXPECT_EQ(state_of(side.ep), DAT_EP_STATE_UNCONNECTED);
}

TEST_F(ArgumentsEndpoints, connect_without_zone_or_evd)
{
    DAT_EP_PARAM nothing{};
    sockaddr_in own = side.adapter.address();
    const auto address = reinterpret_cast<DAT_IA_ADDRESS_PTR>(&own);
    EXPECT_OK(dat_ep_modify(side.ep, DAT_EP_FIELD_PZ_HANDLE, &nothing));
    EXPECT_DAT(bad_state(DAT_INVALID_STATE_EP_NOTREADY),
               dat_ep_connect(side.ep, address, 77, 0, -1, nullptr, DAT_QOS_BEST_EFFORT,
                              DAT_CONNECT_DEFAULT_FLAG));
    EXPECT_DAT(bad_state(DAT_INVALID_STATE_EP_NOTREADY),
               dat_ep_dup_connect(side.ep, side.ep, 0, -1, nullptr, DAT_QOS_BEST_EFFORT));
    EXPECT_DAT(bad_handle(DAT_INVALID_HANDLE_EP),
               dat_cr_accept(objects.of(DAT_HANDLE_TYPE_CR), side.ep, 0, nullptr));
    EXPECT_OK(dat_ep_modify(side.ep, DAT_EP_FIELD_CONNECT_EVD_HANDLE, &nothing));
    EXPECT_DAT(bad_handle(DAT_INVALID_HANDLE_EVD_CONN),
               dat_ep_connect(side.ep, address, 77, 0, -1, nullptr, DAT_QOS_BEST_EFFORT,
                              DAT_CONNECT_DEFAULT_FLAG));
    EXPECT_DAT(bad_argument(2), dat_ep_disconnect(side.ep, bits<DAT_CLOSE_FLAGS>(2)));
}
