// SPDX-License-Identifier: MIT
// Shared receive queues and watermarks.
#include "transfer_fake.h"

namespace {

using namespace fake;

using rsmengine::Srq;

class DaplTransferSrq : public Pair {
  protected:
    void SetUp() override {
        Pair::SetUp();
        srq = &make_srq(10);
        EpAttributes shared = attributes();
        shared.max_recv_dtos = UNLIMITED;
        other = make_side(shared, srq);
    }
    Status post(std::uint64_t offset, std::uint64_t length, std::uint64_t number) {
        const Segment piece = to.at(offset, length);
        return srq->post(1, &piece, Cookie{number});
    }
    void expect_async(rsmengine::Handle about, Reason reason) {
        const Event *event = nullptr;
        ASSERT_EQ(async->dequeue(event), Status::OK);
        EXPECT_EQ(event->error.about, about);
        EXPECT_EQ(event->error.reason, reason);
        expect_nothing(*async);
    }
    void expect_counts(Count available, Count outstanding) {
        EXPECT_EQ(srq->available(), available);
        EXPECT_EQ(srq->outstanding, outstanding);
    }

    Srq *srq = nullptr;
};

TEST_F(DaplTransferSrq, CountsAreThoseOfTheSpecification) {
    connect(one, other);
    for (unsigned i = 0; i < 3; ++i)
        ASSERT_EQ(post(i * 8, 8, i), Status::OK);
    expect_counts(3, 3);
    ASSERT_EQ(one.send({from.at(0, 8)}), Status::OK);
    other.progress();
    expect_counts(2, 3);
    expect(*other.recv, 0, CompletionStatus::OK, 8);
    expect_counts(2, 2);
    EXPECT_EQ(other.receive({to.at(0, 8)}), Status::WRONG_STATE);
}

TEST_F(DaplTransferSrq, APostFeedsWhoeverHasWaitedLongest) {
    Side third = make_side();
    Side fourth = make_side(other.ep->attributes, srq);
    connect(one, other);
    connect(third, fourth);
    ASSERT_EQ(third.send({from.at(0, 8)}), Status::OK);
    fourth.progress();
    ASSERT_EQ(one.send({from.at(8, 16)}), Status::OK);
    other.progress();
    ASSERT_EQ(post(0, 100, 1), Status::OK);
    expect(*fourth.recv, 1, CompletionStatus::OK, 8);
    expect_nothing(*other.recv);
    ASSERT_EQ(post(0, 100, 2), Status::OK);
    expect(*other.recv, 2, CompletionStatus::OK, 16);
}

TEST_F(DaplTransferSrq, WhoeverIsGoneWaitsNoLonger) {
    connect(one, other);
    ASSERT_EQ(one.send({from.at(0, 8)}), Status::OK);
    other.progress();
    EXPECT_EQ(other.ep->disconnect(Close::ABRUPT), Status::OK);
    ASSERT_EQ(post(0, 8, 1), Status::OK);
    expect_counts(1, 1);
    expect_nothing(*other.recv);
}

TEST_F(DaplTransferSrq, ATakenBufferIsFlushedAndTheOthersStay) {
    connect(one, other);
    ASSERT_EQ(post(0, 1 << 20, 1), Status::OK);
    ASSERT_EQ(post(0, 1 << 20, 2), Status::OK);
    ASSERT_EQ(one.send({from.at(0, 1 << 20)}), Status::OK);
    other.progress();
    Count held = 0;
    Count span = 0;
    other.ep->transfer->recv_counts(held, span);
    EXPECT_EQ(held, 1);
    EXPECT_EQ(span, 1);
    EXPECT_FALSE(other.ep->transfer->recv_idle());
    EXPECT_EQ(other.ep->disconnect(Close::ABRUPT), Status::OK);
    expect(*other.recv, 1, CompletionStatus::FLUSHED);
    expect_nothing(*other.recv);
    expect_counts(1, 1);
    EXPECT_EQ(one.ep->transfer->request_idle(), false);
}

TEST_F(DaplTransferSrq, IsFullWithEventsThatAreNotDequeued) {
    connect(one, other);
    for (unsigned i = 0; i < 10; ++i)
        ASSERT_EQ(post(0, 8, i), Status::OK);
    ASSERT_EQ(one.send({from.at(0, 8)}), Status::OK);
    other.progress();
    EXPECT_EQ(post(0, 8, 10), Status::NO_MEMORY);
    expect(*other.recv, 0, CompletionStatus::OK, 8);
    EXPECT_EQ(post(0, 8, 10), Status::OK);
}

TEST_F(DaplTransferSrq, PostsAreChecked) {
    const Segment piece = to.at(0, 8);
    EXPECT_EQ(srq->post(5, &piece, {}), Status::BAD_SEGMENT_COUNT);
    EXPECT_EQ(srq->post(-1, &piece, {}), Status::BAD_SEGMENT_COUNT);
    EXPECT_EQ(srq->post(1, nullptr, {}), Status::BAD_SEGMENT);
    EXPECT_EQ(srq->post(0, nullptr, {}), Status::OK);
    EXPECT_EQ(post(to.bytes.size(), 1, 0), Status::BAD_SEGMENT);
    Memory readable = make_memory(8, rights::READ);
    const Segment read_only = readable.at(0, 8);
    EXPECT_EQ(srq->post(1, &read_only, {}), Status::RIGHT_TO_WRITE_MISSING);
    srq->pz = &make_pz();
    EXPECT_EQ(post(0, 8, 0), Status::ZONE_OF_WRITE_DIFFERS);
    srq->pz = pz;
}

TEST_F(DaplTransferSrq, ResizingKeepsWhatIsPosted) {
    connect(one, other);
    for (unsigned i = 0; i < 10; ++i)
        ASSERT_EQ(post(i * 8, 8, i), Status::OK);
    EXPECT_EQ(srq->resize(9), Status::WRONG_STATE);
    EXPECT_EQ(srq->resize(1000), Status::OK);
    for (unsigned i = 10; i < 500; ++i)
        ASSERT_EQ(post(i * 8, 8, i), Status::OK);
    for (unsigned i = 0; i < 500; ++i) {
        ASSERT_EQ(one.send({from.at(i * 8, 8)}, i, SUPPRESS), Status::OK);
        run(one, other);
        expect(*other.recv, i, CompletionStatus::OK, 8);
    }
    expect_same(4000);
    EXPECT_EQ(srq->resize(1), Status::OK);
    ASSERT_EQ(post(0, 8, 1), Status::OK);
    EXPECT_EQ(post(0, 8, 2), Status::NO_MEMORY);
}

TEST_F(DaplTransferSrq, LowWatermarkFiresOncePerArming) {
    connect(one, other);
    for (unsigned i = 0; i < 3; ++i)
        ASSERT_EQ(post(0, 8, i), Status::OK);
    EXPECT_EQ(srq->set_low_watermark(-1), Status::BAD_WATERMARK);
    EXPECT_EQ(srq->set_low_watermark(11), Status::BAD_WATERMARK);
    EXPECT_EQ(srq->set_low_watermark(2), Status::OK);
    expect_nothing(*async);
    for (unsigned i = 0; i < 3; ++i)
        ASSERT_EQ(one.send({from.at(0, 8)}), Status::OK);
    other.progress();
    expect_async(srq->handle(), Reason::WATERMARK);
    EXPECT_EQ(srq->set_low_watermark(1), Status::OK); // at once
    expect_async(srq->handle(), Reason::WATERMARK);
    EXPECT_EQ(srq->set_low_watermark(0), Status::OK);
    expect_nothing(*async);
}

TEST_F(DaplTransferSrq, SoftHighWatermarkIsAnEvent) {
    connect(one, other);
    other.ep->transfer->set_watermarks(0, UNLIMITED);
    for (unsigned i = 0; i < 2; ++i) {
        ASSERT_EQ(post(0, 8, i), Status::OK);
        ASSERT_EQ(one.send({from.at(0, 8)}), Status::OK);
    }
    other.progress();
    expect_async(other.ep->handle(), Reason::WATERMARK);
    EXPECT_EQ(other.ep->state, EpState::CONNECTED);
}

TEST_F(DaplTransferSrq, HardHighWatermarkEndsTheConnection) {
    connect(one, other);
    other.ep->transfer->set_watermarks(UNLIMITED, 0);
    ASSERT_EQ(post(0, 8, 1), Status::OK);
    ASSERT_EQ(one.send({from.at(0, 8)}), Status::OK);
    run(one, other);
    expect_broken();
}

TEST_F(DaplTransferSrq, WatermarksOfAnEndpointCountItsReceives) {
    one.ep->transfer->set_watermarks(1, 2);
    for (unsigned i = 0; i < 3; ++i)
        ASSERT_EQ(one.receive({from.at(0, 8)}, i), Status::OK);
    expect_async(one.ep->handle(), Reason::WATERMARK);
    one.ep->transfer->set_watermarks(2, 3);
    expect_async(one.ep->handle(), Reason::WATERMARK);
    connect(one, other);
    run(one, other);
    EXPECT_EQ(one.ep->state, EpState::CONNECTED);
    ASSERT_EQ(one.receive({from.at(0, 8)}, 3), Status::OK);
    for (unsigned i = 0; i < 4; ++i)
        expect(*one.recv, i, CompletionStatus::FLUSHED);
    run(one, other);
    expect_broken();
}

} // namespace
