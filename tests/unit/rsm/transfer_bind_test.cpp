// SPDX-License-Identifier: MIT
// Binds of RMRs among other requests.
#include "transfer_fake.h"

#include "engine/memory/lmr.h"
#include "memory/rmr.h"

namespace {

using namespace fake;
using rsmdat::Rmr;

class DaplTransferBind : public Pair {
  protected:
    void SetUp() override {
        Pair::SetUp();
        rmr = &ia->adopt(ia->transport->make_rmr(*pz));
        lmr = &ia->adopt(std::make_unique<rsmdat::Lmr>(*ia, DAT_LMR_PARAM{}, *make_region()));
        lmr->region->lmr = lmr;
    }
    rsmdat::RsmRegion *make_region() {
        bound = make_memory(4096);
        return bound.region;
    }
    DAT_RETURN bind(std::uint64_t number, DAT_RMR_CONTEXT *context, std::uint64_t length = 100,
                    DAT_COMPLETION_FLAGS flags = DEFAULT) {
        DAT_RMR_COOKIE cookie{};
        cookie.as_64 = number;
        return other.ep->transfer->post_bind(*rmr, bound.at(7, length), DAT_MEM_PRIV_ALL_FLAG,
                                             {0, nullptr, cookie, flags}, context);
    }
    static void expect_bind(rsmdat::Evd &evd, DAT_RMR_HANDLE handle, std::uint64_t cookie,
                            DAT_DTO_COMPLETION_STATUS status = DAT_DTO_SUCCESS) {
        DAT_EVENT event{};
        ASSERT_EQ(evd.dequeue(event), DAT_SUCCESS);
        ASSERT_EQ(event.event_number, DAT_RMR_BIND_COMPLETION_EVENT);
        EXPECT_EQ(event.event_data.rmr_completion_event_data.rmr_handle, handle);
        EXPECT_EQ(event.event_data.rmr_completion_event_data.user_cookie.as_64, cookie);
        EXPECT_EQ(event.event_data.rmr_completion_event_data.status, status);
    }
    // Fills a connection's ring with a message that nobody receives.
    void block() { ASSERT_EQ(other.send({from.at(0, 100000)}, 99), DAT_SUCCESS); }

    Rmr *rmr = nullptr;
    rsmdat::Lmr *lmr = nullptr;
    Memory bound;
};

TEST_F(DaplTransferBind, OpensTheBoundBytesAndNoOthers) {
    connect(one, other);
    DAT_RMR_CONTEXT context = 0;
    ASSERT_EQ(bind(1, &context), DAT_SUCCESS);
    expect_bind(*other.request, rmr->handle(), 1);
    ASSERT_EQ(one.write({from.at(0, 100)}, {context, 0, bound.address() + 7, 100}, 2), DAT_SUCCESS);
    run(one, other);
    expect(*one.request, 2, DAT_DTO_SUCCESS, 100);
    EXPECT_EQ(std::memcmp(bound.bytes.data() + 7, from.bytes.data(), 100), 0);
    ASSERT_EQ(one.write({from.at(0, 1)}, {context, 0, bound.address() + 6, 1}, 3), DAT_SUCCESS);
    run(one, other);
    expect(*one.request, 3, DAT_DTO_ERR_REMOTE_ACCESS);
    expect_broken();
}

TEST_F(DaplTransferBind, ANewBindEndsTheOldContext) {
    connect(one, other);
    DAT_RMR_CONTEXT old = 0;
    DAT_RMR_CONTEXT fresh = 0;
    ASSERT_EQ(bind(1, &old), DAT_SUCCESS);
    ASSERT_EQ(bind(2, &fresh, 50, SUPPRESS), DAT_SUCCESS);
    expect_bind(*other.request, rmr->handle(), 1);
    expect_nothing(*other.request);
    EXPECT_NE(old, fresh);
    EXPECT_EQ(contexts_of(*ia).find(old), nullptr);
    ASSERT_EQ(bind(3, nullptr, 0), DAT_SUCCESS); // unbind
    expect_bind(*other.request, rmr->handle(), 3);
    EXPECT_EQ(contexts_of(*ia).find(fresh), nullptr);
    EXPECT_EQ(lmr->bound_rmrs, 0);
}

TEST_F(DaplTransferBind, WaitsForItsTurn) {
    connect(one, other);
    block();
    DAT_RMR_CONTEXT context = 0;
    ASSERT_EQ(bind(1, &context), DAT_SUCCESS);
    EXPECT_FALSE(contexts_of(*ia).find(context)->open);
    ASSERT_EQ(one.receive({to.at(0, 100000)}, 2), DAT_SUCCESS);
    run(one, other);
    EXPECT_TRUE(contexts_of(*ia).find(context)->open);
    expect(*other.request, 99, DAT_DTO_SUCCESS, 100000);
    expect_bind(*other.request, rmr->handle(), 1);
}

TEST_F(DaplTransferBind, IsDroppedWithoutEffectWhenFlushed) {
    connect(one, other);
    block();
    DAT_RMR_CONTEXT context = 0;
    ASSERT_EQ(bind(1, &context), DAT_SUCCESS);
    EXPECT_EQ(other.ep->disconnect(DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS);
    expect(*other.request, 99, DAT_DTO_ERR_FLUSHED);
    expect_bind(*other.request, rmr->handle(), 1, DAT_DTO_ERR_FLUSHED);
    EXPECT_EQ(contexts_of(*ia).find(context), nullptr);
    EXPECT_EQ(lmr->bound_rmrs, 0);
    ASSERT_EQ(bind(2, &context), DAT_SUCCESS); // posted in DISCONNECTED
    expect_bind(*other.request, rmr->handle(), 2, DAT_DTO_ERR_FLUSHED);
    EXPECT_EQ(rmr->lmr, nullptr);
    EXPECT_EQ(rmr->rmr_context(), 0U);
}

TEST_F(DaplTransferBind, FailsWithoutHarmWhenTheRmrIsFreed) {
    connect(one, other);
    block();
    ASSERT_EQ(bind(1, nullptr), DAT_SUCCESS);
    const DAT_RMR_HANDLE handle = rmr->handle();
    ia->destroy(*rmr);
    ASSERT_EQ(one.receive({to.at(0, 100000)}, 2), DAT_SUCCESS);
    run(one, other);
    expect(*other.request, 99, DAT_DTO_SUCCESS, 100000);
    expect_bind(*other.request, handle, 1, DAT_RMR_OPERATION_FAILED);
    EXPECT_EQ(other.ep->state, DAT_EP_STATE_CONNECTED);
    EXPECT_EQ(lmr->bound_rmrs, 0);
}

TEST_F(DaplTransferBind, LeavesNothingBehindWhenTheQueueIsFull) {
    connect(one, other);
    for (unsigned i = 0; i < 16; ++i)
        ASSERT_EQ(bind(i, nullptr), DAT_SUCCESS);
    EXPECT_EQ(bind(16, nullptr), rsmdat::no_resource(DAT_RESOURCE_MEMORY));
    EXPECT_EQ(lmr->bound_rmrs, 1);
    EXPECT_EQ(bind(16, nullptr, 100, SOLICITED), rsmdat::invalid_parameter(6));
}

} // namespace
