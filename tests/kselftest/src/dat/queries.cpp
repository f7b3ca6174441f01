// SPDX-License-Identifier: GPL-2.0
// Queries return what was set, and an IA tells the truth about itself (udapl-functions.md section
// 10, udapl-types.md section 11).
#include "dat/support/objects.hpp"

#include <gtest/gtest.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <sys/resource.h>

using namespace rsmtest;
using namespace rsmtest::dat;

namespace {

class Queries : public testing::Test {
protected:
    DAT_IA_ATTR ia() const { return ia(side); }
    static DAT_IA_ATTR ia(const Side &of)
    {
        DAT_IA_ATTR result{};
        EXPECT_OK(dat_ia_query(of.adapter, nullptr, DAT_IA_FIELD_ALL, &result, 0, nullptr));
        return result;
    }
    DAT_PROVIDER_ATTR provider() const
    {
        DAT_PROVIDER_ATTR result{};
        EXPECT_OK(dat_ia_query(side.adapter, nullptr, 0, nullptr, DAT_PROVIDER_FIELD_ALL, &result));
        return result;
    }

    Side side;
};

// Is it the address of a device of this machine?
bool is_local(const sockaddr_in &address)
{
    ifaddrs *list = nullptr;
    EXPECT_EQ(0, getifaddrs(&list));
    bool found = false;
    for (const ifaddrs *entry = list; entry; entry = entry->ifa_next)
        if (entry->ifa_addr && entry->ifa_addr->sa_family == AF_INET)
            found |= reinterpret_cast<const sockaddr_in *>(entry->ifa_addr)->sin_addr.s_addr ==
                     address.sin_addr.s_addr;
    freeifaddrs(list);
    return found;
}

} // namespace

TEST_F(Queries, adapter)
{
    const DAT_IA_ATTR attributes = ia();
    EXPECT_STREQ(attributes.adapter_name, ia_name());
    EXPECT_STRNE(attributes.vendor_name, "");
    const auto *address = reinterpret_cast<const sockaddr_in *>(attributes.ia_address_ptr);
    ASSERT_NE(address, nullptr);
    EXPECT_EQ(address->sin_family, AF_INET);
    EXPECT_TRUE(is_local(*address));
    EXPECT_EQ(attributes.num_transport_attr, 0);
    EXPECT_EQ(attributes.num_vendor_attr, 0);
}

// With the descriptors of Debian's processes: an IA promises no more objects than these allow.
TEST_F(Queries, limits_are_sensible)
{
    const rlimit debian{1024, 524288};
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &debian), 0);
    const Side roomy;
    const DAT_IA_ATTR attributes = ia(roomy);
    EXPECT_GE(attributes.max_eps, 1000);
    EXPECT_GE(attributes.max_dto_per_ep, differences().least_dtos);
    EXPECT_GE(attributes.max_evds, 1000);
    EXPECT_GE(attributes.max_evd_qlen, 50000);
    EXPECT_GE(attributes.max_lmrs, 10000);
    EXPECT_GE(attributes.max_iov_segments_per_dto, 4);
    EXPECT_GE(attributes.max_iov_segments_per_rdma_read, 1);
    EXPECT_GE(attributes.max_iov_segments_per_rdma_write, 1);
    EXPECT_GE(attributes.max_rdma_read_per_ep_in, 1);
    EXPECT_GE(attributes.max_rdma_read_per_ep_out, 1);
    EXPECT_GE(attributes.max_message_size, 8U << 20);
    EXPECT_GE(attributes.max_rdma_size, attributes.max_message_size);
    EXPECT_GE(attributes.max_lmr_block_size, attributes.max_message_size);
    EXPECT_GE(attributes.max_lmr_virtual_address, reinterpret_cast<DAT_VADDR>(&attributes));
    EXPECT_GE(attributes.max_pzs, 1);
    EXPECT_GE(attributes.max_rmrs, 1);
    EXPECT_GE(attributes.max_srqs, 1);
    EXPECT_GE(attributes.max_recv_per_srq, 1);
}

TEST_F(Queries, provider_attributes)
{
    const DAT_PROVIDER_ATTR attributes = provider();
    EXPECT_STRNE(attributes.provider_name, "");
    EXPECT_EQ(attributes.dapl_version_major, 1U);
    EXPECT_EQ(attributes.dapl_version_minor, 2U);
    EXPECT_EQ(static_cast<int>(attributes.lmr_mem_types_supported), 3);
    EXPECT_EQ(attributes.iov_ownership_on_return, DAT_IOV_CONSUMER);
    EXPECT_EQ(attributes.dat_qos_supported, DAT_QOS_BEST_EFFORT);
    EXPECT_EQ(static_cast<int>(attributes.completion_flags_supported), 0xf);
    EXPECT_GE(attributes.max_private_data_size, differences().least_private_data);
    EXPECT_EQ(attributes.supports_multipath, DAT_FALSE);
    EXPECT_EQ(attributes.ep_creator, DAT_PSP_CREATES_EP_IFASKED);
    EXPECT_EQ(attributes.pz_support, DAT_PZ_UNIQUE);
    EXPECT_EQ(DAT_OPTIMAL_ALIGNMENT % attributes.optimal_buffer_alignment, 0U);
    EXPECT_EQ(attributes.lmr_sync_req, DAT_FALSE);
    EXPECT_EQ(attributes.dto_async_return_guaranteed, DAT_FALSE);
    EXPECT_EQ(attributes.rdma_write_for_rdma_read_req, DAT_FALSE);
    for (const auto &row : attributes.evd_stream_merging_supported)
        for (const DAT_BOOLEAN merges : row)
            EXPECT_EQ(merges, DAT_TRUE);
}

// The provider does what it says of SRQs and watermarks.
TEST_F(Queries, optional_parts_are_announced)
{
    const DAT_PROVIDER_ATTR attributes = provider();
    DAT_SRQ_ATTR wanted{8, 2, DAT_SRQ_LW_DEFAULT};
    DAT_SRQ_HANDLE srq = DAT_HANDLE_NULL;
    DAT_SRQ_PARAM param{};
    DAT_COUNT buffers = 0;
    DAT_COUNT span = 0;
    EXPECT_EQ(attributes.srq_supported, DAT_TRUE);
    EXPECT_OK(dat_srq_create(side.adapter, side.pz, &wanted, &srq));
    EXPECT_OK(dat_srq_query(srq, DAT_SRQ_FIELD_ALL, &param));
    EXPECT_EQ(!(attributes.srq_info_supported & 0x1),
              param.available_dto_count == DAT_VALUE_UNKNOWN);
    EXPECT_EQ(!(attributes.srq_info_supported & 0x10),
              param.outstanding_dto_count == DAT_VALUE_UNKNOWN);
    EXPECT_EQ(!(attributes.srq_watermarks_supported & 0x1),
              DAT_GET_TYPE(dat_srq_set_lw(srq, 0)) == DAT_MODEL_NOT_SUPPORTED);
    EXPECT_EQ(!(attributes.srq_watermarks_supported & 0x110),
              DAT_GET_TYPE(
                  dat_ep_set_watermark(side.ep, DAT_WATERMARK_INFINITE, DAT_WATERMARK_INFINITE)) ==
                  DAT_MODEL_NOT_SUPPORTED);
    EXPECT_EQ(!attributes.ep_recv_info_supported,
              DAT_GET_TYPE(dat_ep_recv_query(side.ep, &buffers, &span)) == DAT_MODEL_NOT_SUPPORTED);
    EXPECT_DAT(bad_argument(2), dat_ep_recv_query(side.ep, nullptr, nullptr));
}

TEST_F(Queries, endpoint_as_created)
{
    DAT_EP_ATTR wanted = default_attributes(side.adapter);
    wanted.max_message_size = 12345;
    wanted.max_rdma_size = 54321;
    wanted.max_recv_dtos = 33;
    wanted.max_request_dtos = 44;
    wanted.max_recv_iov = 3;
    wanted.max_request_iov = 5;
    wanted.max_rdma_read_in = 2;
    wanted.max_rdma_read_out = 1;
    wanted.max_rdma_read_iov = 6;
    wanted.max_rdma_write_iov = 7;
    DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
    DAT_EP_PARAM param{};
    ASSERT_OK(dat_ep_create(side.adapter, side.pz, side.receives, side.requests, side.connections,
                            &wanted, &ep));
    EXPECT_OK(dat_ep_query(ep, DAT_EP_FIELD_ALL, &param));
    EXPECT_EQ(param.ia_handle, side.adapter.ia);
    EXPECT_EQ(param.ep_state, DAT_EP_STATE_UNCONNECTED);
    EXPECT_EQ(param.pz_handle, side.pz);
    EXPECT_EQ(param.recv_evd_handle, side.receives);
    EXPECT_EQ(param.request_evd_handle, side.requests);
    EXPECT_EQ(param.connect_evd_handle, side.connections);
    EXPECT_EQ(param.srq_handle, DAT_HANDLE_NULL);
    EXPECT_EQ(param.ep_attr.max_message_size, 12345U);
    EXPECT_EQ(param.ep_attr.max_rdma_size, 54321U);
    EXPECT_GE(param.ep_attr.max_recv_dtos, 33);
    EXPECT_GE(param.ep_attr.max_request_dtos, 44);
    EXPECT_GE(param.ep_attr.max_recv_iov, 3);
    EXPECT_GE(param.ep_attr.max_request_iov, 5);
    EXPECT_EQ(param.ep_attr.max_rdma_read_in, 2);
    EXPECT_EQ(param.ep_attr.max_rdma_read_out, 1);
    EXPECT_GE(param.ep_attr.max_rdma_read_iov, 6);
    EXPECT_GE(param.ep_attr.max_rdma_write_iov, 7);
    EXPECT_OK(dat_ep_free(ep));
}

TEST_F(Queries, connected_endpoint)
{
    Side peer;
    side.accept_from(peer);
    DAT_EP_PARAM here{};
    DAT_EP_PARAM there{};
    EXPECT_OK(dat_ep_query(side.ep, DAT_EP_FIELD_ALL, &here));
    EXPECT_OK(dat_ep_query(peer.ep, DAT_EP_FIELD_ALL, &there));
    EXPECT_EQ(here.ep_state, DAT_EP_STATE_CONNECTED);
    EXPECT_EQ(here.remote_port_qual, there.local_port_qual);
    EXPECT_NE(here.remote_port_qual, 0U);
    ASSERT_NE(here.remote_ia_address_ptr, nullptr);
    ASSERT_NE(there.remote_ia_address_ptr, nullptr);
    const auto own = side.adapter.address();
    for (const DAT_EP_PARAM &param : {here, there})
        EXPECT_EQ(
            reinterpret_cast<const sockaddr_in *>(param.remote_ia_address_ptr)->sin_addr.s_addr,
            own.sin_addr.s_addr);
}

TEST_F(Queries, objects_as_created)
{
    Objects objects;
    const Side &owner = objects.side;
    DAT_PZ_PARAM pz{};
    DAT_RMR_PARAM rmr{};
    DAT_PSP_PARAM psp{};
    DAT_RSP_PARAM rsp{};
    DAT_SRQ_PARAM srq{};
    EXPECT_OK(dat_pz_query(owner.pz, DAT_PZ_FIELD_ALL, &pz));
    EXPECT_EQ(pz.ia_handle, owner.adapter.ia);
    EXPECT_OK(dat_rmr_query(objects.of(DAT_HANDLE_TYPE_RMR), DAT_RMR_FIELD_ALL, &rmr));
    EXPECT_EQ(rmr.ia_handle, owner.adapter.ia);
    EXPECT_EQ(rmr.pz_handle, owner.pz);
    EXPECT_EQ(rmr.lmr_triplet.segment_length, 0U);
    EXPECT_EQ(rmr.rmr_context, 0U);
    EXPECT_OK(dat_psp_query(objects.of(DAT_HANDLE_TYPE_PSP), DAT_PSP_FIELD_ALL, &psp));
    EXPECT_EQ(psp.ia_handle, owner.adapter.ia);
    EXPECT_EQ(psp.evd_handle, owner.arrivals);
    EXPECT_EQ(psp.psp_flags, DAT_PSP_CONSUMER_FLAG);
    EXPECT_TRUE(Objects::is_ours(psp.conn_qual));
    EXPECT_OK(dat_rsp_query(objects.of(DAT_HANDLE_TYPE_RSP), DAT_RSP_FIELD_ALL, &rsp));
    EXPECT_EQ(rsp.ia_handle, owner.adapter.ia);
    EXPECT_EQ(rsp.evd_handle, owner.arrivals);
    EXPECT_TRUE(Objects::is_ours(rsp.conn_qual));
    EXPECT_NE(psp.conn_qual, rsp.conn_qual);
    EXPECT_EQ(state_of(rsp.ep_handle), DAT_EP_STATE_RESERVED);
    EXPECT_OK(dat_srq_query(objects.of(DAT_HANDLE_TYPE_SRQ), DAT_SRQ_FIELD_ALL, &srq));
    EXPECT_EQ(srq.ia_handle, owner.adapter.ia);
    EXPECT_EQ(srq.srq_state, DAT_SRQ_STATE_OPERATIONAL);
    EXPECT_EQ(srq.pz_handle, owner.pz);
    EXPECT_GE(srq.max_recv_dtos, 16);
    EXPECT_GE(srq.max_recv_iov, 4);
    EXPECT_EQ(srq.low_watermark, DAT_SRQ_LW_DEFAULT);
    EXPECT_EQ(srq.available_dto_count, 0);
    EXPECT_EQ(srq.outstanding_dto_count, 0);
}
