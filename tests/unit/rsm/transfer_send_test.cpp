// SPDX-License-Identifier: MIT
// Messages, and what posts are checked for.
#include "transfer_fake.h"

namespace {

using namespace fake;
using rsmdat::failure;
using rsmdat::invalid_parameter;

using DaplTransferSend = Pair;

TEST_F(DaplTransferSend, MessagesArriveInOrderInTheReceivesOfThatOrder) {
    for (unsigned i = 0; i < 8; ++i)
        ASSERT_EQ(other.receive({to.at(i * 100, 100)}, 50 + i), DAT_SUCCESS);
    connect(one, other);
    for (unsigned i = 0; i < 8; ++i)
        ASSERT_EQ(one.send({from.at(i * 100, i)}, i), DAT_SUCCESS);
    run(one, other);
    for (unsigned i = 0; i < 8; ++i) {
        expect(*other.recv, 50 + i, DAT_DTO_SUCCESS, i);
        expect(*one.request, i, DAT_DTO_SUCCESS, i);
        expect_same(i, i * 100, i * 100);
    }
    expect_nothing(*other.recv);
}

TEST_F(DaplTransferSend, PiecesAreFilledFrontToBackAndTheRestIsUntouched) {
    connect(one, other);
    to.fill(9);
    const auto untouched = to.bytes;
    ASSERT_EQ(other.receive({to.at(0, 3), {0, 0, 1, 0}, to.at(10, 5), to.at(20, 100)}),
              DAT_SUCCESS);
    ASSERT_EQ(one.send({from.at(0, 4), from.at(4, 0), from.at(4, 6)}), DAT_SUCCESS);
    run(one, other);
    expect(*other.recv, 0, DAT_DTO_SUCCESS, 10);
    expect_same(3);
    expect_same(5, 3, 10);
    expect_same(2, 8, 20);
    EXPECT_EQ(to.bytes[3], untouched[3]);
    EXPECT_EQ(to.bytes[15], untouched[15]);
    EXPECT_EQ(to.bytes[22], untouched[22]);
}

TEST_F(DaplTransferSend, AMessageOfNothingIsOne) {
    connect(one, other);
    ASSERT_EQ(other.receive({}, 1), DAT_SUCCESS);
    ASSERT_EQ(one.send({}, 2), DAT_SUCCESS);
    run(one, other);
    expect(*other.recv, 1, DAT_DTO_SUCCESS, 0);
    expect(*one.request, 2, DAT_DTO_SUCCESS, 0);
}

TEST_F(DaplTransferSend, AMessageMayBeLargerThanTheRing) {
    connect(one, other);
    ASSERT_EQ(one.send({from.at(1, 1 << 20), from.at((1 << 20) + 1, 12345)}, 3), DAT_SUCCESS);
    ASSERT_EQ(one.send({from.at(0, 8)}, 4), DAT_SUCCESS);
    run(one, other);
    expect_nothing(*other.recv); // none posted
    ASSERT_EQ(other.receive({to.at(0, 1 << 21)}, 5), DAT_SUCCESS);
    ASSERT_EQ(other.receive({to.at(0, 8)}, 6), DAT_SUCCESS);
    run(one, other);
    expect(*other.recv, 5, DAT_DTO_SUCCESS, (1 << 20) + 12345);
    expect(*other.recv, 6, DAT_DTO_SUCCESS, 8);
    expect_same((1 << 20) + 12345 - 8, 9, 8);
    expect(*one.request, 3, DAT_DTO_SUCCESS, (1 << 20) + 12345);
    expect(*one.request, 4, DAT_DTO_SUCCESS, 8);
}

TEST_F(DaplTransferSend, SmallMessagesKeepTheirOrderWhenTheRingIsFull) {
    connect(one, other);
    constexpr int count = 12;
    for (int i = 0; i < count; ++i)
        ASSERT_EQ(one.send({from.at(0, 3000 + i)}, 100 + i), DAT_SUCCESS);
    ASSERT_EQ(one.send({from.at(0, 8)}, 200), DAT_SUCCESS); // would fit behind them
    for (int i = 0; i <= count; ++i)
        ASSERT_EQ(other.receive({to.at(0, 4000)}, i), DAT_SUCCESS);
    run(one, other);
    for (int i = 0; i < count; ++i) {
        expect(*other.recv, i, DAT_DTO_SUCCESS, 3000 + i);
        expect(*one.request, 100 + i, DAT_DTO_SUCCESS, 3000 + i);
    }
    expect(*other.recv, count, DAT_DTO_SUCCESS, 8);
    expect(*one.request, 200, DAT_DTO_SUCCESS, 8);
}

TEST_F(DaplTransferSend, AMessageThatIsTooLongBreaksTheConnection) {
    connect(one, other);
    ASSERT_EQ(other.receive({to.at(0, 7)}, 1), DAT_SUCCESS);
    ASSERT_EQ(other.receive({to.at(0, 100)}, 2), DAT_SUCCESS);
    ASSERT_EQ(one.send({from.at(0, 8)}, 3, SUPPRESS), DAT_SUCCESS);
    ASSERT_EQ(one.send({from.at(0, 8)}, 4, SUPPRESS), DAT_SUCCESS);
    run(one, other);
    expect(*other.recv, 1, DAT_DTO_ERR_LOCAL_LENGTH);
    expect(*other.recv, 2, DAT_DTO_ERR_FLUSHED);
    expect(*one.request, 3, DAT_DTO_ERR_REMOTE_RESPONDER);
    expect(*one.request, 4, DAT_DTO_ERR_FLUSHED);
    expect_broken();
}

TEST_F(DaplTransferSend, PostsAreChecked) {
    using F = DAT_COMPLETION_FLAGS;
    const DAT_LMR_TRIPLET ok = from.at(0, 8);
    EXPECT_EQ(one.send({ok}), failure(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_UNCONNECTED));
    connect(one, other);
    EXPECT_EQ(one.send({ok, ok, ok, ok, ok}), invalid_parameter(2));
    EXPECT_EQ(other.receive({ok, ok, ok, ok, ok}), invalid_parameter(2));
    EXPECT_EQ(one.ep->transfer->post_send({-1, &ok, {}, DEFAULT}), invalid_parameter(2));
    EXPECT_EQ(one.ep->transfer->post_send({1, nullptr, {}, DEFAULT}), invalid_parameter(3));
    EXPECT_EQ(one.ep->transfer->post_recv({1, nullptr, {}, DEFAULT}), invalid_parameter(3));
    EXPECT_EQ(one.ep->transfer->post_write({1, &ok, {}, DEFAULT}, nullptr), invalid_parameter(5));
    for (const int flags : {0x04, 0x10, 0x20, 0x100}) {
        EXPECT_EQ(one.send({ok}, 0, F(flags)), invalid_parameter(5)) << flags;
        EXPECT_EQ(one.receive({ok}, 0, F(flags)), invalid_parameter(5)) << flags;
        EXPECT_EQ(one.write({ok}, to.remote(0, 8), 0, F(flags)), invalid_parameter(6)) << flags;
    }
    for (const F flags : {SUPPRESS, SOLICITED, FENCE})
        EXPECT_EQ(one.receive({ok}, 0, flags), invalid_parameter(5));
    EXPECT_EQ(one.read({ok}, to.remote(0, 8), 0, SOLICITED), invalid_parameter(6));
    EXPECT_EQ(one.write({from.at(0, 9)}, to.remote(0, 8)), failure(DAT_LENGTH_ERROR));
    EXPECT_EQ(one.read({from.at(0, 7)}, to.remote(0, 8)), failure(DAT_LENGTH_ERROR));
    EXPECT_EQ(one.send({from.at(from.bytes.size() - 7, 8)}), invalid_parameter(3));
    expect_nothing(*one.request);
    EXPECT_TRUE(one.ep->transfer->recv_idle());
}

TEST_F(DaplTransferSend, SizesAreLimitedByTheAttributes) {
    DAT_EP_ATTR small = attributes();
    small.max_message_size = 100;
    small.max_rdma_size = 200;
    one = make_side(small);
    connect(one, other);
    EXPECT_EQ(one.send({from.at(0, 100), from.at(0, 1)}), invalid_parameter(3));
    EXPECT_EQ(one.send({from.at(0, 100)}), DAT_SUCCESS);
    EXPECT_EQ(one.write({from.at(0, 201)}, to.remote(0, 300)), failure(DAT_LENGTH_ERROR));
    EXPECT_EQ(one.read({from.at(0, 201)}, to.remote(0, 201)), failure(DAT_LENGTH_ERROR));
    EXPECT_EQ(one.read({from.at(0, 201)}, to.remote(0, 200)), DAT_SUCCESS);
}

TEST_F(DaplTransferSend, MemoryThatGoesAfterThePostIsAProtectionError) {
    connect(one, other);
    Memory gone = make_memory(100000);
    ASSERT_EQ(one.send({gone.at(0, 100000)}, 1), DAT_SUCCESS); // more than the ring takes
    forget(gone);
    ASSERT_EQ(other.receive({to.at(0, 100000)}, 2), DAT_SUCCESS);
    run(one, other);
    expect(*one.request, 1, DAT_DTO_ERR_LOCAL_PROTECTION);
    expect(*other.recv, 2, DAT_DTO_ERR_FLUSHED);
    expect_broken();
}

TEST_F(DaplTransferSend, SoDoesThatOfAReceive) {
    connect(one, other);
    Memory gone = make_memory(8);
    ASSERT_EQ(other.receive({gone.at(0, 8)}, 1), DAT_SUCCESS);
    forget(gone);
    ASSERT_EQ(one.send({from.at(0, 8)}, 2), DAT_SUCCESS);
    run(one, other);
    expect(*other.recv, 1, DAT_DTO_ERR_LOCAL_PROTECTION);
    expect(*one.request, 2, DAT_DTO_ERR_REMOTE_RESPONDER);
    expect_broken();
}

} // namespace
