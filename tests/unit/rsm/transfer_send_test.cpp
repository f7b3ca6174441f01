// SPDX-License-Identifier: MIT
// Messages, and what posts are checked for.
#include "transfer_fake.h"

namespace {

using namespace fake;

using DaplTransferSend = Pair;

TEST_F(DaplTransferSend, MessagesArriveInOrderInTheReceivesOfThatOrder) {
    for (unsigned i = 0; i < 8; ++i)
        ASSERT_EQ(other.receive({to.at(i * 100, 100)}, 50 + i), Status::OK);
    connect(one, other);
    for (unsigned i = 0; i < 8; ++i)
        ASSERT_EQ(one.send({from.at(i * 100, i)}, i), Status::OK);
    run(one, other);
    for (unsigned i = 0; i < 8; ++i) {
        expect(*other.recv, 50 + i, CompletionStatus::OK, i);
        expect(*one.request, i, CompletionStatus::OK, i);
        expect_same(i, i * 100, i * 100);
    }
    expect_nothing(*other.recv);
}

TEST_F(DaplTransferSend, PiecesAreFilledFrontToBackAndTheRestIsUntouched) {
    connect(one, other);
    to.fill(9);
    const auto untouched = to.bytes;
    ASSERT_EQ(other.receive({to.at(0, 3), {0, 0, 1, 0}, to.at(10, 5), to.at(20, 100)}), Status::OK);
    ASSERT_EQ(one.send({from.at(0, 4), from.at(4, 0), from.at(4, 6)}), Status::OK);
    run(one, other);
    expect(*other.recv, 0, CompletionStatus::OK, 10);
    expect_same(3);
    expect_same(5, 3, 10);
    expect_same(2, 8, 20);
    EXPECT_EQ(to.bytes[3], untouched[3]);
    EXPECT_EQ(to.bytes[15], untouched[15]);
    EXPECT_EQ(to.bytes[22], untouched[22]);
}

TEST_F(DaplTransferSend, AMessageOfNothingIsOne) {
    connect(one, other);
    ASSERT_EQ(other.receive({}, 1), Status::OK);
    ASSERT_EQ(one.send({}, 2), Status::OK);
    run(one, other);
    expect(*other.recv, 1, CompletionStatus::OK, 0);
    expect(*one.request, 2, CompletionStatus::OK, 0);
}

TEST_F(DaplTransferSend, AMessageMayBeLargerThanTheRing) {
    connect(one, other);
    ASSERT_EQ(one.send({from.at(1, 1 << 20), from.at((1 << 20) + 1, 12345)}, 3), Status::OK);
    ASSERT_EQ(one.send({from.at(0, 8)}, 4), Status::OK);
    run(one, other);
    expect_nothing(*other.recv); // none posted
    ASSERT_EQ(other.receive({to.at(0, 1 << 21)}, 5), Status::OK);
    ASSERT_EQ(other.receive({to.at(0, 8)}, 6), Status::OK);
    run(one, other);
    expect(*other.recv, 5, CompletionStatus::OK, (1 << 20) + 12345);
    expect(*other.recv, 6, CompletionStatus::OK, 8);
    expect_same((1 << 20) + 12345 - 8, 9, 8);
    expect(*one.request, 3, CompletionStatus::OK, (1 << 20) + 12345);
    expect(*one.request, 4, CompletionStatus::OK, 8);
}

TEST_F(DaplTransferSend, SmallMessagesKeepTheirOrderWhenTheRingIsFull) {
    connect(one, other);
    constexpr int count = 12;
    for (int i = 0; i < count; ++i)
        ASSERT_EQ(one.send({from.at(0, 3000 + i)}, 100 + i), Status::OK);
    ASSERT_EQ(one.send({from.at(0, 8)}, 200), Status::OK); // would fit behind them
    for (int i = 0; i <= count; ++i)
        ASSERT_EQ(other.receive({to.at(0, 4000)}, i), Status::OK);
    run(one, other);
    for (int i = 0; i < count; ++i) {
        expect(*other.recv, i, CompletionStatus::OK, 3000 + i);
        expect(*one.request, 100 + i, CompletionStatus::OK, 3000 + i);
    }
    expect(*other.recv, count, CompletionStatus::OK, 8);
    expect(*one.request, 200, CompletionStatus::OK, 8);
}

TEST_F(DaplTransferSend, AMessageThatIsTooLongBreaksTheConnection) {
    connect(one, other);
    ASSERT_EQ(other.receive({to.at(0, 7)}, 1), Status::OK);
    ASSERT_EQ(other.receive({to.at(0, 100)}, 2), Status::OK);
    ASSERT_EQ(one.send({from.at(0, 8)}, 3, SUPPRESS), Status::OK);
    ASSERT_EQ(one.send({from.at(0, 8)}, 4, SUPPRESS), Status::OK);
    run(one, other);
    expect(*other.recv, 1, CompletionStatus::LOCAL_LENGTH);
    expect(*other.recv, 2, CompletionStatus::FLUSHED);
    expect(*one.request, 3, CompletionStatus::REMOTE_RESPONDER);
    expect(*one.request, 4, CompletionStatus::FLUSHED);
    expect_broken();
}

TEST_F(DaplTransferSend, PostsAreChecked) {
    using F = CompletionFlags;
    const Segment ok = from.at(0, 8);
    EXPECT_EQ(one.send({ok}), Status::EP_UNCONNECTED);
    connect(one, other);
    EXPECT_EQ(one.send({ok, ok, ok, ok, ok}), Status::BAD_SEGMENT_COUNT);
    EXPECT_EQ(other.receive({ok, ok, ok, ok, ok}), Status::BAD_SEGMENT_COUNT);
    EXPECT_EQ(one.ep->transfer->post_send({-1, &ok, {}, DEFAULT}), Status::BAD_SEGMENT_COUNT);
    EXPECT_EQ(one.ep->transfer->post_send({1, nullptr, {}, DEFAULT}), Status::BAD_SEGMENT);
    EXPECT_EQ(one.ep->transfer->post_recv({1, nullptr, {}, DEFAULT}), Status::BAD_SEGMENT);
    EXPECT_EQ(one.ep->transfer->post_write({1, &ok, {}, DEFAULT}, nullptr),
              Status::BAD_REMOTE_SEGMENT);
    for (const int flags : {0x04, 0x10, 0x20, 0x100}) {
        EXPECT_EQ(one.send({ok}, 0, F(flags)), Status::BAD_MESSAGE_FLAGS) << flags;
        EXPECT_EQ(one.receive({ok}, 0, F(flags)), Status::BAD_MESSAGE_FLAGS) << flags;
        EXPECT_EQ(one.write({ok}, to.remote(0, 8), 0, F(flags)), Status::BAD_RDMA_FLAGS) << flags;
    }
    for (const F flags : {SUPPRESS, SOLICITED, FENCE})
        EXPECT_EQ(one.receive({ok}, 0, flags), Status::BAD_MESSAGE_FLAGS);
    EXPECT_EQ(one.read({ok}, to.remote(0, 8), 0, SOLICITED), Status::BAD_RDMA_FLAGS);
    EXPECT_EQ(one.write({from.at(0, 9)}, to.remote(0, 8)), Status::LENGTH_MISMATCH);
    EXPECT_EQ(one.read({from.at(0, 7)}, to.remote(0, 8)), Status::LENGTH_MISMATCH);
    EXPECT_EQ(one.send({from.at(from.bytes.size() - 7, 8)}), Status::BAD_SEGMENT);
    expect_nothing(*one.request);
    EXPECT_TRUE(one.ep->transfer->recv_idle());
}

TEST_F(DaplTransferSend, SizesAreLimitedByTheAttributes) {
    EpAttributes small = attributes();
    small.max_message_size = 100;
    small.max_rdma_size = 200;
    one = make_side(small);
    connect(one, other);
    EXPECT_EQ(one.send({from.at(0, 100), from.at(0, 1)}), Status::BAD_SEGMENT);
    EXPECT_EQ(one.send({from.at(0, 100)}), Status::OK);
    EXPECT_EQ(one.write({from.at(0, 201)}, to.remote(0, 300)), Status::LENGTH_MISMATCH);
    EXPECT_EQ(one.read({from.at(0, 201)}, to.remote(0, 201)), Status::LENGTH_MISMATCH);
    EXPECT_EQ(one.read({from.at(0, 201)}, to.remote(0, 200)), Status::OK);
}

TEST_F(DaplTransferSend, MemoryThatGoesAfterThePostIsAProtectionError) {
    connect(one, other);
    Memory gone = make_memory(100000);
    ASSERT_EQ(one.send({gone.at(0, 100000)}, 1), Status::OK); // more than the ring takes
    forget(gone);
    ASSERT_EQ(other.receive({to.at(0, 100000)}, 2), Status::OK);
    run(one, other);
    expect(*one.request, 1, CompletionStatus::LOCAL_PROTECTION);
    expect(*other.recv, 2, CompletionStatus::FLUSHED);
    expect_broken();
}

TEST_F(DaplTransferSend, SoDoesThatOfAReceive) {
    connect(one, other);
    Memory gone = make_memory(8);
    ASSERT_EQ(other.receive({gone.at(0, 8)}, 1), Status::OK);
    forget(gone);
    ASSERT_EQ(one.send({from.at(0, 8)}, 2), Status::OK);
    run(one, other);
    expect(*other.recv, 1, CompletionStatus::LOCAL_PROTECTION);
    expect(*one.request, 2, CompletionStatus::REMOTE_RESPONDER);
    expect_broken();
}

} // namespace
