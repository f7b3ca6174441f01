// SPDX-License-Identifier: MIT
// Binds of RMRs among other requests.
#include "transfer_fake.h"

#include "engine/memory/lmr.h"
#include "memory/rmr.h"

namespace {

using namespace fake;
using rsmengine::Rmr;

class DaplTransferBind : public Pair {
  protected:
    void SetUp() override {
        Pair::SetUp();
        rmr = &ia->adopt(ia->transport->make_rmr(*pz));
        lmr = &ia->adopt(std::make_unique<rsmengine::Lmr>(*ia, rsmengine::MemoryOrigin{}, *make_region()));
        lmr->region->lmr = lmr;
    }
    rsmengine::RsmRegion *make_region() {
        bound = make_memory(4096);
        return bound.region;
    }
    Status bind(std::uint64_t number, RemoteKey *context, std::uint64_t length = 100,
                CompletionFlags flags = DEFAULT) {
        return other.ep->transfer->post_bind(*rmr, bound.at(7, length), rights::ALL,
                                             {0, nullptr, Cookie{number}, flags}, context);
    }
    static void expect_bind(rsmengine::Evd &evd, rsmengine::Handle handle, std::uint64_t cookie,
                            CompletionStatus status = CompletionStatus::OK) {
        const Event *event = nullptr;
        ASSERT_EQ(evd.dequeue(event), Status::OK);
        ASSERT_EQ(event->kind, EventKind::BIND);
        EXPECT_EQ(event->bind.rmr, handle);
        EXPECT_EQ(event->bind.cookie, Cookie{cookie});
        EXPECT_EQ(event->bind.status, status);
    }
    // Fills a connection's ring with a message that nobody receives.
    void block() { ASSERT_EQ(other.send({from.at(0, 100000)}, 99), Status::OK); }

    Rmr *rmr = nullptr;
    rsmengine::Lmr *lmr = nullptr;
    Memory bound;
};

TEST_F(DaplTransferBind, OpensTheBoundBytesAndNoOthers) {
    connect(one, other);
    RemoteKey context = 0;
    ASSERT_EQ(bind(1, &context), Status::OK);
    expect_bind(*other.request, rmr->handle(), 1);
    ASSERT_EQ(one.write({from.at(0, 100)}, {context, 0, bound.address() + 7, 100}, 2), Status::OK);
    run(one, other);
    expect(*one.request, 2, CompletionStatus::OK, 100);
    EXPECT_EQ(std::memcmp(bound.bytes.data() + 7, from.bytes.data(), 100), 0);
    ASSERT_EQ(one.write({from.at(0, 1)}, {context, 0, bound.address() + 6, 1}, 3), Status::OK);
    run(one, other);
    expect(*one.request, 3, CompletionStatus::REMOTE_ACCESS);
    expect_broken();
}

TEST_F(DaplTransferBind, ANewBindEndsTheOldContext) {
    connect(one, other);
    RemoteKey old = 0;
    RemoteKey fresh = 0;
    ASSERT_EQ(bind(1, &old), Status::OK);
    ASSERT_EQ(bind(2, &fresh, 50, SUPPRESS), Status::OK);
    expect_bind(*other.request, rmr->handle(), 1);
    expect_nothing(*other.request);
    EXPECT_NE(old, fresh);
    EXPECT_EQ(contexts_of(*ia).find(old), nullptr);
    ASSERT_EQ(bind(3, nullptr, 0), Status::OK); // unbind
    expect_bind(*other.request, rmr->handle(), 3);
    EXPECT_EQ(contexts_of(*ia).find(fresh), nullptr);
    EXPECT_EQ(lmr->bound_rmrs, 0);
}

TEST_F(DaplTransferBind, WaitsForItsTurn) {
    connect(one, other);
    block();
    RemoteKey context = 0;
    ASSERT_EQ(bind(1, &context), Status::OK);
    EXPECT_FALSE(contexts_of(*ia).find(context)->open);
    ASSERT_EQ(one.receive({to.at(0, 100000)}, 2), Status::OK);
    run(one, other);
    EXPECT_TRUE(contexts_of(*ia).find(context)->open);
    expect(*other.request, 99, CompletionStatus::OK, 100000);
    expect_bind(*other.request, rmr->handle(), 1);
}

TEST_F(DaplTransferBind, IsDroppedWithoutEffectWhenFlushed) {
    connect(one, other);
    block();
    RemoteKey context = 0;
    ASSERT_EQ(bind(1, &context), Status::OK);
    EXPECT_EQ(other.ep->disconnect(Close::ABRUPT), Status::OK);
    expect(*other.request, 99, CompletionStatus::FLUSHED);
    expect_bind(*other.request, rmr->handle(), 1, CompletionStatus::FLUSHED);
    EXPECT_EQ(contexts_of(*ia).find(context), nullptr);
    EXPECT_EQ(lmr->bound_rmrs, 0);
    ASSERT_EQ(bind(2, &context), Status::OK); // posted in DISCONNECTED
    expect_bind(*other.request, rmr->handle(), 2, CompletionStatus::FLUSHED);
    EXPECT_EQ(rmr->lmr, nullptr);
    EXPECT_EQ(rmr->rmr_context(), 0U);
}

TEST_F(DaplTransferBind, FailsWithoutHarmWhenTheRmrIsFreed) {
    connect(one, other);
    block();
    ASSERT_EQ(bind(1, nullptr), Status::OK);
    const rsmengine::Handle handle = rmr->handle();
    ia->destroy(*rmr);
    ASSERT_EQ(one.receive({to.at(0, 100000)}, 2), Status::OK);
    run(one, other);
    expect(*other.request, 99, CompletionStatus::OK, 100000);
    expect_bind(*other.request, handle, 1, CompletionStatus::BIND_FAILED);
    EXPECT_EQ(other.ep->state, EpState::CONNECTED);
    EXPECT_EQ(lmr->bound_rmrs, 0);
}

TEST_F(DaplTransferBind, LeavesNothingBehindWhenTheQueueIsFull) {
    connect(one, other);
    for (unsigned i = 0; i < 16; ++i)
        ASSERT_EQ(bind(i, nullptr), Status::OK);
    EXPECT_EQ(bind(16, nullptr), Status::NO_MEMORY);
    EXPECT_EQ(lmr->bound_rmrs, 1);
    EXPECT_EQ(bind(16, nullptr, 100, SOLICITED), Status::BAD_RDMA_FLAGS);
}

} // namespace
