// SPDX-License-Identifier: GPL-2.0
// Answers of service points, requests, zones, memory, SRQs and posts to bad arguments, in the order
// in which they look at them (udapl-functions.md sections 10.4 to 10.9).
#include "dat/support/objects.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <vector>

using namespace rsmtest;
using namespace rsmtest::dat;

namespace {

class ArgumentsObjects : public testing::Test {
protected:
    DAT_HANDLE of(DAT_HANDLE_TYPE type) const { return objects.of(type); }

    Objects objects;
    Side &side = objects.side;
    const DAT_EVD_HANDLE software = objects.of(DAT_HANDLE_TYPE_EVD); // without the CR flag
};

class ArgumentsPosts : public testing::Test {
protected:
    void SetUp() override { b.accept_from(a); }
    // The next completions are those of good posts.
    void expect_no_completion() const
    {
        EXPECT_OK(b.receive(0, 8, 2));
        EXPECT_OK(a.send(0, 8, 3));
        expect_completion(a.requests, 3);
        EXPECT_OK(a.receive(0, 8, 4));
        EXPECT_OK(b.send(0, 8, 5));
        expect_completion(a.receives, 4);
    }

    Side a;
    Side b;
};

constexpr unsigned never_a_flag[] = {DAT_COMPLETION_UNSIGNALLED_FLAG,
                                     DAT_COMPLETION_EVD_THRESHOLD_FLAG, 0x20, 0x80000000};

} // namespace

TEST_F(ArgumentsObjects, psp_create)
{
    const auto bad_flags = bits<DAT_PSP_FLAGS>(2);
    DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
    DAT_CONN_QUAL qualifier = 0;
    EXPECT_DAT(bad_argument(5), dat_psp_create(side.adapter, 0, software, bad_flags, nullptr));
    EXPECT_DAT(bad_argument(4), dat_psp_create(side.adapter, 0, software, bad_flags, &psp));
    EXPECT_DAT(bad_handle(DAT_INVALID_HANDLE_EVD_CR),
               dat_psp_create(side.adapter, 0, software, DAT_PSP_CONSUMER_FLAG, &psp));
    EXPECT_DAT(bad_argument(2),
               dat_psp_create(side.adapter, 0, side.arrivals, DAT_PSP_CONSUMER_FLAG, &psp));

    EXPECT_DAT(bad_argument(5),
               dat_psp_create_any(side.adapter, nullptr, software, bad_flags, nullptr));
    EXPECT_DAT(bad_argument(2),
               dat_psp_create_any(side.adapter, nullptr, software, bad_flags, &psp));
    EXPECT_DAT(bad_argument(4),
               dat_psp_create_any(side.adapter, &qualifier, software, bad_flags, &psp));
    EXPECT_DAT(bad_handle(DAT_INVALID_HANDLE_EVD_CR),
               dat_psp_create_any(side.adapter, &qualifier, software, DAT_PSP_CONSUMER_FLAG, &psp));
}

// One listener per qualifier, whoever has it; free as soon as that is gone.
TEST_F(ArgumentsObjects, qualifier_in_use)
{
    const Result in_use = error(DAT_CONN_QUAL_IN_USE);
    const DAT_CONN_QUAL qualifier = Objects::unused_qualifier();
    const Adapter another;
    const DAT_EVD_HANDLE elsewhere = another.make_evd(DAT_EVD_CR_FLAG);
    DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
    DAT_PSP_HANDLE second = DAT_HANDLE_NULL;
    DAT_RSP_HANDLE rsp = DAT_HANDLE_NULL;
    for (int round = 0; round < 3; round++) {
        EXPECT_OK(
            dat_psp_create(side.adapter, qualifier, side.arrivals, DAT_PSP_CONSUMER_FLAG, &psp));
        EXPECT_DAT(in_use, dat_psp_create(side.adapter, qualifier, side.arrivals,
                                          DAT_PSP_PROVIDER_FLAG, &second));
        EXPECT_DAT(in_use,
                   dat_psp_create(another, qualifier, elsewhere, DAT_PSP_CONSUMER_FLAG, &second));
        EXPECT_DAT(in_use, dat_rsp_create(side.adapter, qualifier, side.ep, side.arrivals, &rsp));
        EXPECT_EQ(state_of(side.ep), DAT_EP_STATE_UNCONNECTED);
        EXPECT_OK(dat_psp_free(psp));
        EXPECT_OK(dat_rsp_create(side.adapter, qualifier, side.ep, side.arrivals, &rsp));
        EXPECT_DAT(in_use,
                   dat_psp_create(another, qualifier, elsewhere, DAT_PSP_CONSUMER_FLAG, &second));
        EXPECT_OK(dat_rsp_free(rsp));
        EXPECT_EQ(state_of(side.ep), DAT_EP_STATE_UNCONNECTED);
    }
}

TEST_F(ArgumentsObjects, rsp_create)
{
    DAT_RSP_HANDLE rsp = DAT_HANDLE_NULL;
    DAT_RSP_PARAM reserved{};
    EXPECT_OK(dat_rsp_query(of(DAT_HANDLE_TYPE_RSP), DAT_RSP_FIELD_ALL, &reserved));
    EXPECT_DAT(bad_argument(5),
               dat_rsp_create(side.adapter, 0, reserved.ep_handle, software, nullptr));
    EXPECT_DAT(bad_state(DAT_INVALID_STATE_EP_RESERVED),
               dat_rsp_create(side.adapter, 0, reserved.ep_handle, software, &rsp));
    EXPECT_DAT(bad_handle(DAT_INVALID_HANDLE_EVD_CR),
               dat_rsp_create(side.adapter, 0, side.ep, software, &rsp));
    EXPECT_DAT(bad_argument(2), dat_rsp_create(side.adapter, 0, side.ep, side.arrivals, &rsp));
    EXPECT_EQ(state_of(side.ep), DAT_EP_STATE_UNCONNECTED);
}

TEST_F(ArgumentsObjects, cr)
{
    const DAT_CR_HANDLE cr = of(DAT_HANDLE_TYPE_CR);
    EXPECT_DAT(bad_argument(4), dat_cr_accept(cr, side.ep, 1, nullptr));
    EXPECT_DAT(bad_argument(3), dat_cr_accept(cr, side.ep, -1, nullptr));
    EXPECT_DAT(bad_argument(3), dat_cr_accept(cr, side.ep, INT32_MAX, &objects));
    EXPECT_DAT(bad_argument(2), dat_cr_handoff(cr, 0));
    EXPECT_EQ(state_of(side.ep), DAT_EP_STATE_UNCONNECTED);
    EXPECT_OK(dat_cr_reject(cr)); // all of that has left it alone
    expect_event(objects.peer.connections, DAT_CONNECTION_EVENT_PEER_REJECTED);
}

TEST_F(ArgumentsObjects, pz)
{
    EXPECT_DAT(bad_argument(2), dat_pz_create(side.adapter, nullptr));
    const Result in_use = bad_state(DAT_INVALID_STATE_PZ_IN_USE);
    const DAT_PZ_HANDLE pz = side.adapter.make_pz();
    DAT_RMR_HANDLE rmr = DAT_HANDLE_NULL;
    DAT_SRQ_HANDLE srq = DAT_HANDLE_NULL;
    DAT_SRQ_ATTR attributes{4, 4, DAT_SRQ_LW_DEFAULT};
    {
        const Registered memory(side.adapter, pz, side.memory.start, 64);
        EXPECT_DAT(in_use, dat_pz_free(pz));
    }
    EXPECT_OK(dat_rmr_create(pz, &rmr));
    EXPECT_DAT(in_use, dat_pz_free(pz));
    EXPECT_OK(dat_rmr_free(rmr));
    EXPECT_OK(dat_srq_create(side.adapter, pz, &attributes, &srq));
    EXPECT_DAT(in_use, dat_pz_free(pz));
    EXPECT_OK(dat_srq_free(srq));
    EXPECT_DAT(in_use, dat_pz_free(side.pz)); // by the endpoint, too
    EXPECT_OK(dat_pz_free(pz));
}

TEST_F(ArgumentsObjects, srq)
{
    const DAT_SRQ_HANDLE srq = of(DAT_HANDLE_TYPE_SRQ);
    DAT_SRQ_HANDLE made = DAT_HANDLE_NULL;
    DAT_SRQ_ATTR good{4, 4, DAT_SRQ_LW_DEFAULT};
    EXPECT_DAT(bad_argument(3), dat_srq_create(side.adapter, side.pz, nullptr, nullptr));
    for (DAT_SRQ_ATTR attributes :
         {DAT_SRQ_ATTR{0, 4, 0}, DAT_SRQ_ATTR{-1, 4, 0}, DAT_SRQ_ATTR{INT32_MAX, 4, 0},
          DAT_SRQ_ATTR{4, 0, 0}, DAT_SRQ_ATTR{4, -1, 0}, DAT_SRQ_ATTR{4, INT32_MAX, 0}})
        EXPECT_DAT(bad_argument(3), dat_srq_create(side.adapter, side.pz, &attributes, &made))
            << attributes.max_recv_dtos << ' ' << attributes.max_recv_iov;
    EXPECT_DAT(bad_argument(4), dat_srq_create(side.adapter, side.pz, &good, nullptr));
    for (const DAT_COUNT length : {0, -1, INT32_MIN, INT32_MAX})
        EXPECT_DAT(bad_argument(2), dat_srq_resize(srq, length)) << length;
    for (const DAT_COUNT mark : {-1, INT32_MIN, INT32_MAX})
        EXPECT_DAT(bad_argument(2), dat_srq_set_lw(srq, mark)) << mark;

    DAT_LMR_TRIPLET pieces[100];
    std::fill(std::begin(pieces), std::end(pieces), side.memory.piece(0, 8));
    EXPECT_DAT(bad_argument(2), dat_srq_post_recv(srq, -1, nullptr, cookie(1)));
    EXPECT_DAT(bad_argument(2), dat_srq_post_recv(srq, 100, pieces, cookie(1)));
    EXPECT_DAT(bad_argument(3), dat_srq_post_recv(srq, 1, nullptr, cookie(1)));
    pieces[0].virtual_address += side.memory.length;
    EXPECT_DAT(bad_argument(3), dat_srq_post_recv(srq, 1, pieces, cookie(1)));
}

TEST_F(ArgumentsObjects, lmr_sync)
{
    const DAT_LMR_TRIPLET good = side.memory.piece(8, 64);
    DAT_LMR_TRIPLET beyond = side.memory.piece(side.memory.length - 8, 9);
    DAT_LMR_TRIPLET unknown = good;
    unknown.lmr_context ^= 0x55555555;
    for (auto *sync : {dat_lmr_sync_rdma_read, dat_lmr_sync_rdma_write}) {
        EXPECT_OK(sync(side.adapter, &good, 1));
        EXPECT_OK(sync(side.adapter, nullptr, 0));
        EXPECT_DAT(bad_argument(2), sync(side.adapter, nullptr, 1));
        EXPECT_DAT(bad_argument(2), sync(side.adapter, &beyond, 1));
        EXPECT_DAT(bad_argument(2), sync(side.adapter, &unknown, 1));
    }
}

TEST_F(ArgumentsPosts, send_and_receive)
{
    std::vector<DAT_LMR_TRIPLET> pieces(100, a.memory.piece(0, 8));
    for (auto *post : {dat_ep_post_send, dat_ep_post_recv}) {
        const auto bad = bits<DAT_COMPLETION_FLAGS>(0x40);
        EXPECT_DAT(bad_argument(2), post(a.ep, -1, nullptr, cookie(1), bad));
        EXPECT_DAT(bad_argument(2), post(a.ep, 100, pieces.data(), cookie(1), bad));
        EXPECT_DAT(bad_argument(3), post(a.ep, 1, nullptr, cookie(1), bad));
        for (const unsigned flag : never_a_flag)
            EXPECT_DAT(bad_argument(5),
                       post(a.ep, 1, pieces.data(), cookie(1), bits<DAT_COMPLETION_FLAGS>(flag)))
                << flag;
    }
    for (const unsigned flag : {DAT_COMPLETION_SUPPRESS_FLAG, DAT_COMPLETION_SOLICITED_WAIT_FLAG,
                                DAT_COMPLETION_BARRIER_FENCE_FLAG})
        EXPECT_DAT(bad_argument(5), dat_ep_post_recv(a.ep, 1, pieces.data(), cookie(1),
                                                     bits<DAT_COMPLETION_FLAGS>(flag)));
    expect_no_completion();
}

TEST_F(ArgumentsPosts, rdma)
{
    std::vector<DAT_LMR_TRIPLET> pieces(100, a.memory.piece(0, 8));
    const DAT_RMR_TRIPLET remote = b.memory.remote(0, 8);
    const DAT_RMR_TRIPLET smaller = b.memory.remote(0, 7);
    const DAT_RMR_TRIPLET larger = b.memory.remote(0, 9);
    const auto bad = bits<DAT_COMPLETION_FLAGS>(0x40);
    const auto usual = DAT_COMPLETION_DEFAULT_FLAG;
    for (auto *post : {dat_ep_post_rdma_read, dat_ep_post_rdma_write}) {
        EXPECT_DAT(bad_argument(2), post(a.ep, -1, nullptr, cookie(1), nullptr, bad));
        EXPECT_DAT(bad_argument(2), post(a.ep, 100, pieces.data(), cookie(1), nullptr, bad));
        EXPECT_DAT(bad_argument(3), post(a.ep, 1, nullptr, cookie(1), nullptr, bad));
        EXPECT_DAT(bad_argument(5), post(a.ep, 1, pieces.data(), cookie(1), nullptr, bad));
        for (const unsigned flag : never_a_flag)
            EXPECT_DAT(bad_argument(6), post(a.ep, 1, pieces.data(), cookie(1), &remote,
                                             bits<DAT_COMPLETION_FLAGS>(flag)))
                << flag;
        EXPECT_DAT(bad_argument(6), post(a.ep, 1, pieces.data(), cookie(1), &remote,
                                         DAT_COMPLETION_SOLICITED_WAIT_FLAG));
    }
    EXPECT_DAT(error(DAT_LENGTH_ERROR),
               dat_ep_post_rdma_write(a.ep, 1, pieces.data(), cookie(1), &smaller, usual));
    EXPECT_DAT(error(DAT_LENGTH_ERROR),
               dat_ep_post_rdma_read(a.ep, 1, pieces.data(), cookie(1), &larger, usual));
    expect_no_completion();
}

TEST_F(ArgumentsPosts, bind)
{
    const DAT_LMR_TRIPLET piece = a.memory.piece(0, 8);
    const DAT_LMR_TRIPLET beyond = a.memory.piece(a.memory.length, 1);
    const auto no_privilege = bits<DAT_MEM_PRIV_FLAGS>(0x400);
    const auto usual = DAT_COMPLETION_DEFAULT_FLAG;
    DAT_RMR_HANDLE rmr = DAT_HANDLE_NULL;
    DAT_RMR_CONTEXT context = 0;
    EXPECT_DAT(bad_argument(2), dat_rmr_create(a.pz, nullptr));
    ASSERT_OK(dat_rmr_create(a.pz, &rmr));
    const auto bind = [&](const DAT_LMR_TRIPLET *to, DAT_MEM_PRIV_FLAGS privileges,
                          DAT_COMPLETION_FLAGS flags) {
        return dat_rmr_bind(rmr, to, privileges, a.ep, cookie(1), flags, &context);
    };
    EXPECT_DAT(bad_argument(2), bind(nullptr, DAT_MEM_PRIV_REMOTE_READ_FLAG, usual));
    EXPECT_DAT(bad_argument(2), bind(&beyond, DAT_MEM_PRIV_REMOTE_READ_FLAG, usual));
    EXPECT_DAT(bad_argument(3), bind(&piece, no_privilege, usual));
    for (const unsigned flag : never_a_flag)
        EXPECT_DAT(bad_argument(6),
                   bind(&piece, DAT_MEM_PRIV_REMOTE_READ_FLAG, bits<DAT_COMPLETION_FLAGS>(flag)))
            << flag;
    EXPECT_DAT(bad_argument(6),
               bind(&piece, DAT_MEM_PRIV_REMOTE_READ_FLAG, DAT_COMPLETION_SOLICITED_WAIT_FLAG));
    expect_no_completion();
    EXPECT_OK(dat_rmr_free(rmr));
}
