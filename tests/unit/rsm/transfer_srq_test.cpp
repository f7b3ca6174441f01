// SPDX-License-Identifier: MIT
// Shared receive queues and watermarks.
#include "transfer_fake.h"

namespace {

using namespace fake;
using rsmdat::invalid_parameter;
using rsmdat::invalid_state;
using rsmdat::Srq;

class DaplTransferSrq : public Pair {
  protected:
    void SetUp() override {
        Pair::SetUp();
        srq = &make_srq(10);
        DAT_EP_ATTR shared = attributes();
        shared.max_recv_dtos = DAT_HW_DEFAULT;
        other = make_side(shared, srq);
    }
    DAT_RETURN post(std::uint64_t offset, std::uint64_t length, std::uint64_t number) {
        const DAT_LMR_TRIPLET piece = to.at(offset, length);
        DAT_DTO_COOKIE cookie{};
        cookie.as_64 = number;
        return srq->post(1, &piece, cookie);
    }
    void expect_async(DAT_HANDLE about, DAT_COUNT reason) {
        DAT_EVENT event{};
        ASSERT_EQ(async->dequeue(event), DAT_SUCCESS);
        EXPECT_EQ(event.event_data.asynch_error_event_data.dat_handle, about);
        EXPECT_EQ(event.event_data.asynch_error_event_data.reason, reason);
        expect_nothing(*async);
    }
    void expect_counts(DAT_COUNT available, DAT_COUNT outstanding) {
        EXPECT_EQ(srq->available(), available);
        EXPECT_EQ(srq->outstanding, outstanding);
    }

    Srq *srq = nullptr;
};

TEST_F(DaplTransferSrq, CountsAreThoseOfTheSpecification) {
    connect(one, other);
    for (unsigned i = 0; i < 3; ++i)
        ASSERT_EQ(post(i * 8, 8, i), DAT_SUCCESS);
    expect_counts(3, 3);
    ASSERT_EQ(one.send({from.at(0, 8)}), DAT_SUCCESS);
    other.progress();
    expect_counts(2, 3);
    expect(*other.recv, 0, DAT_DTO_SUCCESS, 8);
    expect_counts(2, 2);
    EXPECT_EQ(other.receive({to.at(0, 8)}), invalid_state());
}

TEST_F(DaplTransferSrq, APostFeedsWhoeverHasWaitedLongest) {
    Side third = make_side();
    Side fourth = make_side(other.ep->attributes, srq);
    connect(one, other);
    connect(third, fourth);
    ASSERT_EQ(third.send({from.at(0, 8)}), DAT_SUCCESS);
    fourth.progress();
    ASSERT_EQ(one.send({from.at(8, 16)}), DAT_SUCCESS);
    other.progress();
    ASSERT_EQ(post(0, 100, 1), DAT_SUCCESS);
    expect(*fourth.recv, 1, DAT_DTO_SUCCESS, 8);
    expect_nothing(*other.recv);
    ASSERT_EQ(post(0, 100, 2), DAT_SUCCESS);
    expect(*other.recv, 2, DAT_DTO_SUCCESS, 16);
}

TEST_F(DaplTransferSrq, WhoeverIsGoneWaitsNoLonger) {
    connect(one, other);
    ASSERT_EQ(one.send({from.at(0, 8)}), DAT_SUCCESS);
    other.progress();
    EXPECT_EQ(other.ep->disconnect(DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS);
    ASSERT_EQ(post(0, 8, 1), DAT_SUCCESS);
    expect_counts(1, 1);
    expect_nothing(*other.recv);
}

TEST_F(DaplTransferSrq, ATakenBufferIsFlushedAndTheOthersStay) {
    connect(one, other);
    ASSERT_EQ(post(0, 1 << 20, 1), DAT_SUCCESS);
    ASSERT_EQ(post(0, 1 << 20, 2), DAT_SUCCESS);
    ASSERT_EQ(one.send({from.at(0, 1 << 20)}), DAT_SUCCESS);
    other.progress();
    DAT_COUNT held = 0;
    DAT_COUNT span = 0;
    other.ep->transfer->recv_counts(held, span);
    EXPECT_EQ(held, 1);
    EXPECT_EQ(span, 1);
    EXPECT_FALSE(other.ep->transfer->recv_idle());
    EXPECT_EQ(other.ep->disconnect(DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS);
    expect(*other.recv, 1, DAT_DTO_ERR_FLUSHED);
    expect_nothing(*other.recv);
    expect_counts(1, 1);
    EXPECT_EQ(one.ep->transfer->request_idle(), false);
}

TEST_F(DaplTransferSrq, IsFullWithEventsThatAreNotDequeued) {
    connect(one, other);
    for (unsigned i = 0; i < 10; ++i)
        ASSERT_EQ(post(0, 8, i), DAT_SUCCESS);
    ASSERT_EQ(one.send({from.at(0, 8)}), DAT_SUCCESS);
    other.progress();
    EXPECT_EQ(post(0, 8, 10), rsmdat::no_resource(DAT_RESOURCE_MEMORY));
    expect(*other.recv, 0, DAT_DTO_SUCCESS, 8);
    EXPECT_EQ(post(0, 8, 10), DAT_SUCCESS);
}

TEST_F(DaplTransferSrq, PostsAreChecked) {
    const DAT_LMR_TRIPLET piece = to.at(0, 8);
    EXPECT_EQ(srq->post(5, &piece, {}), invalid_parameter(2));
    EXPECT_EQ(srq->post(-1, &piece, {}), invalid_parameter(2));
    EXPECT_EQ(srq->post(1, nullptr, {}), invalid_parameter(3));
    EXPECT_EQ(srq->post(0, nullptr, {}), DAT_SUCCESS);
    EXPECT_EQ(post(to.bytes.size(), 1, 0), invalid_parameter(3));
    Memory readable = make_memory(8, DAT_MEM_PRIV_READ_FLAG);
    const DAT_LMR_TRIPLET read_only = readable.at(0, 8);
    EXPECT_EQ(srq->post(1, &read_only, {}),
              rsmdat::failure(DAT_PRIVILEGES_VIOLATION, DAT_PRIVILEGES_WRITE));
    srq->pz = &make_pz();
    EXPECT_EQ(post(0, 8, 0), rsmdat::failure(DAT_PROTECTION_VIOLATION, DAT_PROTECTION_WRITE));
    srq->pz = pz;
}

TEST_F(DaplTransferSrq, ResizingKeepsWhatIsPosted) {
    connect(one, other);
    for (unsigned i = 0; i < 10; ++i)
        ASSERT_EQ(post(i * 8, 8, i), DAT_SUCCESS);
    EXPECT_EQ(srq->resize(9), invalid_state());
    EXPECT_EQ(srq->resize(1000), DAT_SUCCESS);
    for (unsigned i = 10; i < 500; ++i)
        ASSERT_EQ(post(i * 8, 8, i), DAT_SUCCESS);
    for (unsigned i = 0; i < 500; ++i) {
        ASSERT_EQ(one.send({from.at(i * 8, 8)}, i, SUPPRESS), DAT_SUCCESS);
        run(one, other);
        expect(*other.recv, i, DAT_DTO_SUCCESS, 8);
    }
    expect_same(4000);
    EXPECT_EQ(srq->resize(1), DAT_SUCCESS);
    ASSERT_EQ(post(0, 8, 1), DAT_SUCCESS);
    EXPECT_EQ(post(0, 8, 2), rsmdat::no_resource(DAT_RESOURCE_MEMORY));
}

TEST_F(DaplTransferSrq, LowWatermarkFiresOncePerArming) {
    connect(one, other);
    for (unsigned i = 0; i < 3; ++i)
        ASSERT_EQ(post(0, 8, i), DAT_SUCCESS);
    EXPECT_EQ(srq->set_low_watermark(-1), invalid_parameter(2));
    EXPECT_EQ(srq->set_low_watermark(11), invalid_parameter(2));
    EXPECT_EQ(srq->set_low_watermark(2), DAT_SUCCESS);
    expect_nothing(*async);
    for (unsigned i = 0; i < 3; ++i)
        ASSERT_EQ(one.send({from.at(0, 8)}), DAT_SUCCESS);
    other.progress();
    expect_async(srq->handle(), DAT_SRQ_LOW_WATERMARK_EVENT);
    EXPECT_EQ(srq->set_low_watermark(1), DAT_SUCCESS); // at once
    expect_async(srq->handle(), DAT_SRQ_LOW_WATERMARK_EVENT);
    EXPECT_EQ(srq->set_low_watermark(0), DAT_SUCCESS);
    expect_nothing(*async);
}

TEST_F(DaplTransferSrq, SoftHighWatermarkIsAnEvent) {
    connect(one, other);
    other.ep->transfer->set_watermarks(0, DAT_WATERMARK_INFINITE);
    for (unsigned i = 0; i < 2; ++i) {
        ASSERT_EQ(post(0, 8, i), DAT_SUCCESS);
        ASSERT_EQ(one.send({from.at(0, 8)}), DAT_SUCCESS);
    }
    other.progress();
    expect_async(other.ep->handle(), DAT_SRQ_SOFT_HIGH_WATERMARK_EVENT);
    EXPECT_EQ(other.ep->state, DAT_EP_STATE_CONNECTED);
}

TEST_F(DaplTransferSrq, HardHighWatermarkEndsTheConnection) {
    connect(one, other);
    other.ep->transfer->set_watermarks(DAT_WATERMARK_INFINITE, 0);
    ASSERT_EQ(post(0, 8, 1), DAT_SUCCESS);
    ASSERT_EQ(one.send({from.at(0, 8)}), DAT_SUCCESS);
    run(one, other);
    expect_broken();
}

TEST_F(DaplTransferSrq, WatermarksOfAnEndpointCountItsReceives) {
    one.ep->transfer->set_watermarks(1, 2);
    for (unsigned i = 0; i < 3; ++i)
        ASSERT_EQ(one.receive({from.at(0, 8)}, i), DAT_SUCCESS);
    expect_async(one.ep->handle(), DAT_SRQ_SOFT_HIGH_WATERMARK_EVENT);
    one.ep->transfer->set_watermarks(2, 3);
    expect_async(one.ep->handle(), DAT_SRQ_SOFT_HIGH_WATERMARK_EVENT);
    connect(one, other);
    run(one, other);
    EXPECT_EQ(one.ep->state, DAT_EP_STATE_CONNECTED);
    ASSERT_EQ(one.receive({from.at(0, 8)}, 3), DAT_SUCCESS);
    for (unsigned i = 0; i < 4; ++i)
        expect(*one.recv, i, DAT_DTO_ERR_FLUSHED);
    run(one, other);
    expect_broken();
}

} // namespace
