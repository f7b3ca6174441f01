// SPDX-License-Identifier: MIT
// Transfers between two endpoints that follow the rules.
#include "dapl_transfer_fake.h"

namespace {

using namespace fake;
using rsmdat::failure;
using rsmdat::invalid_parameter;

class DaplTransfer : public Transfers {
  protected:
    void SetUp() override {
        Transfers::SetUp();
        one = make_side();
        other = make_side();
        from = make_memory(1 << 21);
        to = make_memory(1 << 21);
        from.fill(1);
    }
    void expect_same(std::size_t length, std::size_t from_offset = 0, std::size_t to_offset = 0) {
        EXPECT_EQ(std::memcmp(from.bytes.data() + from_offset, to.bytes.data() + to_offset, length),
                  0);
    }
    void expect_broken() {
        for (const Side &side : {one, other}) {
            EXPECT_EQ(side.ep->state, DAT_EP_STATE_DISCONNECTED);
            expect_event(*side.connection, DAT_CONNECTION_EVENT_BROKEN);
            expect_nothing(*side.connection);
        }
    }

    Side one, other;
    Memory from, to;
};

TEST_F(DaplTransfer, MessagesArriveInOrderInTheReceivesOfThatOrder) {
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

TEST_F(DaplTransfer, PiecesAreFilledFrontToBackAndTheRestIsUntouched) {
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

TEST_F(DaplTransfer, AMessageOfNothingIsOne) {
    connect(one, other);
    ASSERT_EQ(other.receive({}, 1), DAT_SUCCESS);
    ASSERT_EQ(one.send({}, 2), DAT_SUCCESS);
    run(one, other);
    expect(*other.recv, 1, DAT_DTO_SUCCESS, 0);
    expect(*one.request, 2, DAT_DTO_SUCCESS, 0);
}

TEST_F(DaplTransfer, AMessageMayBeLargerThanTheRing) {
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

TEST_F(DaplTransfer, AMessageThatIsTooLongBreaksTheConnection) {
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

TEST_F(DaplTransfer, RdmaGoesStraightIntoTheMemoryOfAPeerOnTheSameNode) {
    connect(one, other);
    ASSERT_EQ(one.write({from.at(5, 1000), from.at(1005, 24)}, to.remote(3, 2000), 1), DAT_SUCCESS);
    expect_nothing(*one.request); // the peer is asked
    run(one, other);
    expect(*one.request, 1, DAT_DTO_SUCCESS, 1024);
    expect_same(1024, 5, 3);
    // From now on the peer does not hear of it.
    const int before = bells;
    ASSERT_EQ(one.write({from.at(0, 8)}, to.remote(0, 8), 2), DAT_SUCCESS);
    expect(*one.request, 2, DAT_DTO_SUCCESS, 8);
    expect_same(8);
    from.fill(77);
    ASSERT_EQ(one.read({from.at(0, 500), from.at(500, 1500)}, to.remote(3, 1024), 3), DAT_SUCCESS);
    expect(*one.request, 3, DAT_DTO_SUCCESS, 1024);
    expect_same(1024, 0, 3);
    EXPECT_EQ(bells, before);
}

TEST_F(DaplTransfer, DirectRdmaIsReportedAfterWhatWasPostedBefore) {
    connect(one, other);
    ASSERT_EQ(one.write({from.at(0, 8)}, to.remote(0, 8), 1), DAT_SUCCESS);
    run(one, other);
    expect(*one.request, 1, DAT_DTO_SUCCESS, 8);
    ASSERT_EQ(one.send({from.at(0, 8)}, 2), DAT_SUCCESS);
    ASSERT_EQ(one.write({from.at(0, 8)}, to.remote(0, 8), 3), DAT_SUCCESS);
    expect_nothing(*one.request);
    ASSERT_EQ(other.receive({to.at(0, 8)}, 4), DAT_SUCCESS);
    run(one, other);
    expect(*one.request, 2, DAT_DTO_SUCCESS, 8);
    expect(*one.request, 3, DAT_DTO_SUCCESS, 8);
}

TEST_F(DaplTransfer, MemoryThatHasGoneIsAnErrorOnBothSides) {
    connect(one, other);
    ASSERT_EQ(one.write({from.at(0, 8)}, to.remote(0, 8), 1), DAT_SUCCESS);
    run(one, other);
    expect(*one.request, 1, DAT_DTO_SUCCESS, 8);
    const DAT_RMR_TRIPLET stale = to.remote(0, 8);
    forget(to);
    ASSERT_EQ(one.write({from.at(0, 8)}, stale, 2), DAT_SUCCESS);
    ASSERT_EQ(one.write({from.at(0, 8)}, stale, 3, SUPPRESS), DAT_SUCCESS);
    run(one, other);
    expect(*one.request, 2, DAT_DTO_ERR_REMOTE_ACCESS);
    expect(*one.request, 3, DAT_DTO_ERR_FLUSHED);
    expect_broken();
}

TEST_F(DaplTransfer, WhatIsOutOfBoundsOrWithoutRightIsRefused) {
    Memory readable = make_memory(100, DAT_MEM_PRIV_READ_FLAG);
    const std::vector<DAT_RMR_TRIPLET> bad{
        to.remote(to.bytes.size() - 7, 8),
        {to.region->context, 0, to.address() - 1, 8},
        {to.region->context, 0, ~std::uint64_t{0} - 3, 8},
        {to.region->context ^ 1U << 20, 0, to.address(), 8},
        {0, 0, to.address(), 8},
        readable.remote(0, 8),
    };
    for (const std::uint32_t node : {HERE, ELSEWHERE})
        for (const auto &target : bad) {
            connect(one, other, node);
            ASSERT_EQ(one.write({from.at(0, 8)}, target, 1), DAT_SUCCESS);
            run(one, other);
            expect(*one.request, 1, DAT_DTO_ERR_REMOTE_ACCESS);
            expect_broken();
            EXPECT_EQ(one.ep->reset(), DAT_SUCCESS);
            EXPECT_EQ(other.ep->reset(), DAT_SUCCESS);
        }
}

TEST_F(DaplTransfer, WithoutATicketRdmaGoesThroughTheRing) {
    grants = false;
    connect(one, other);
    ASSERT_EQ(one.write({from.at(0, 100000)}, to.remote(1, 100000), 1), DAT_SUCCESS);
    ASSERT_EQ(one.read({from.at(100000, 100000)}, to.remote(1, 100000), 2), DAT_SUCCESS);
    run(one, other);
    expect(*one.request, 1, DAT_DTO_SUCCESS, 100000);
    expect(*one.request, 2, DAT_DTO_SUCCESS, 100000);
    expect_same(100000, 0, 1);
    expect_same(100000, 100000, 1);
}

TEST_F(DaplTransfer, RdmaBetweenNodesIsDoneByThePeer) {
    connect(one, other, ELSEWHERE);
    ASSERT_EQ(one.write({from.at(0, 60000), from.at(60000, 40001)}, to.remote(3, 100001), 1),
              DAT_SUCCESS);
    ASSERT_EQ(other.receive({}, 9), DAT_SUCCESS);
    ASSERT_EQ(one.send({}, 2), DAT_SUCCESS);
    for (unsigned i = 0; i < 5; ++i) // two at a time
        ASSERT_EQ(one.read({from.at(i, 3), from.at(400000 + i * 100000U, 100001)},
                           to.remote(3, 100001), 10 + i),
                  DAT_SUCCESS);
    run(one, other);
    expect(*one.request, 1, DAT_DTO_SUCCESS, 100001);
    expect(*other.recv, 9, DAT_DTO_SUCCESS, 0);
    expect(*one.request, 2, DAT_DTO_SUCCESS, 0);
    for (unsigned i = 0; i < 5; ++i)
        expect(*one.request, 10 + i, DAT_DTO_SUCCESS, 100001);
    expect_same(90000, 800000, 6);
}

TEST_F(DaplTransfer, AFenceWaitsForReads) {
    connect(one, other, ELSEWHERE);
    ASSERT_EQ(other.receive({to.at(0, 8)}, 1), DAT_SUCCESS);
    ASSERT_EQ(other.receive({to.at(0, 8)}, 2), DAT_SUCCESS);
    ASSERT_EQ(one.read({from.at(0, 8)}, to.remote(8, 8), 3), DAT_SUCCESS);
    ASSERT_EQ(one.send({from.at(8, 8)}, 4), DAT_SUCCESS);
    ASSERT_EQ(one.send({from.at(8, 8)}, 5, FENCE), DAT_SUCCESS);
    other.progress();
    expect(*other.recv, 1, DAT_DTO_SUCCESS, 8);
    expect_nothing(*other.recv);
    run(one, other);
    expect(*other.recv, 2, DAT_DTO_SUCCESS, 8);
    for (unsigned i = 3; i < 6; ++i)
        expect(*one.request, i, DAT_DTO_SUCCESS, 8);
}

TEST_F(DaplTransfer, AReadWithoutCreditsFails) {
    DAT_EP_ATTR none = attributes();
    none.max_rdma_read_out = 0;
    one = make_side(none);
    connect(one, other);
    ASSERT_EQ(one.read({from.at(0, 8)}, to.remote(0, 8), 1), DAT_SUCCESS);
    run(one, other);
    expect(*one.request, 1, DAT_DTO_ERR_LOCAL_EP);
    expect_broken();
}

TEST_F(DaplTransfer, RdmaOfNothingNeedsNoTarget) {
    connect(one, other);
    ASSERT_EQ(one.write({}, {12345, 0, 1, 0}, 1), DAT_SUCCESS);
    ASSERT_EQ(one.read({}, {12345, 0, 1, 0}, 2), DAT_SUCCESS);
    expect(*one.request, 1, DAT_DTO_SUCCESS, 0);
    expect(*one.request, 2, DAT_DTO_SUCCESS, 0);
}

TEST_F(DaplTransfer, SuppressedSuccessesAreSilentAndFreeTheirPlaces) {
    connect(one, other);
    for (unsigned i = 0; i < 100; ++i) {
        ASSERT_EQ(other.receive({to.at(0, 8)}, i), DAT_SUCCESS);
        ASSERT_EQ(one.send({from.at(0, 8)}, i, SUPPRESS), DAT_SUCCESS);
        run(one, other);
        expect(*other.recv, i, DAT_DTO_SUCCESS, 8);
    }
    expect_nothing(*one.request);
}

TEST_F(DaplTransfer, AQueueIsFullUntilEventsAreDequeued) {
    connect(one, other);
    for (unsigned i = 0; i < 16; ++i) {
        ASSERT_EQ(other.receive({to.at(0, 8)}, i), DAT_SUCCESS);
        ASSERT_EQ(one.send({from.at(0, 8)}, i), DAT_SUCCESS);
    }
    const DAT_RETURN full = rsmdat::no_resource(DAT_RESOURCE_MEMORY);
    run(one, other);
    EXPECT_EQ(one.send({from.at(0, 8)}), full);
    EXPECT_EQ(one.write({from.at(0, 8)}, to.remote(0, 8)), full);
    EXPECT_EQ(other.receive({to.at(0, 8)}), full);
    expect(*one.request, 0, DAT_DTO_SUCCESS, 8);
    expect(*other.recv, 0, DAT_DTO_SUCCESS, 8);
    EXPECT_EQ(one.send({from.at(0, 8)}), DAT_SUCCESS);
    EXPECT_EQ(other.receive({to.at(0, 8)}), DAT_SUCCESS);
}

TEST_F(DaplTransfer, PostsAreChecked) {
    using F = DAT_COMPLETION_FLAGS;
    const DAT_LMR_TRIPLET ok = from.at(0, 8);
    EXPECT_EQ(one.send({ok}), failure(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_UNCONNECTED));
    connect(one, other);
    EXPECT_EQ(one.send({ok, ok, ok, ok, ok}), invalid_parameter(2));
    EXPECT_EQ(other.receive({ok, ok, ok, ok, ok}), invalid_parameter(2));
    EXPECT_EQ(one.ep->transfer.post_send(-1, &ok, {}, DEFAULT), invalid_parameter(2));
    EXPECT_EQ(one.ep->transfer.post_send(1, nullptr, {}, DEFAULT), invalid_parameter(3));
    EXPECT_EQ(one.ep->transfer.post_recv(1, nullptr, {}, DEFAULT), invalid_parameter(3));
    EXPECT_EQ(one.ep->transfer.post_rdma(true, 1, &ok, {}, nullptr, DEFAULT), invalid_parameter(5));
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
    EXPECT_TRUE(one.ep->transfer.recv_idle());
}

TEST_F(DaplTransfer, SizesAreLimitedByTheAttributes) {
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

TEST_F(DaplTransfer, MemoryThatGoesAfterThePostIsAProtectionError) {
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

TEST_F(DaplTransfer, SoDoesThatOfAReceive) {
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

TEST_F(DaplTransfer, ReadsBeforeAFaultAreAnsweredFirst) {
    connect(one, other, ELSEWHERE);
    ASSERT_EQ(one.read({from.at(0, 100000)}, to.remote(0, 100000), 1), DAT_SUCCESS);
    ASSERT_EQ(one.write({from.at(0, 8)}, {1, 0, to.address(), 8}, 2), DAT_SUCCESS);
    run(one, other);
    expect(*one.request, 1, DAT_DTO_SUCCESS, 100000);
    expect(*one.request, 2, DAT_DTO_ERR_REMOTE_ACCESS);
    expect_broken();
}

TEST_F(DaplTransfer, EverythingOutstandingIsFlushedInOrder) {
    connect(one, other);
    for (unsigned i = 0; i < 3; ++i) {
        ASSERT_EQ(one.receive({to.at(0, 8)}, i), DAT_SUCCESS);
        ASSERT_EQ(one.send({from.at(0, 8)}, 10 + i, SUPPRESS), DAT_SUCCESS);
    }
    EXPECT_EQ(one.ep->disconnect(DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS);
    ASSERT_EQ(one.receive({to.at(0, 8)}, 3), DAT_SUCCESS);
    ASSERT_EQ(one.send({from.at(0, 8)}, 13, SUPPRESS), DAT_SUCCESS);
    ASSERT_EQ(one.write({from.at(0, 8)}, to.remote(0, 8), 14), DAT_SUCCESS);
    for (unsigned i = 0; i < 4; ++i)
        expect(*one.recv, i, DAT_DTO_ERR_FLUSHED);
    for (unsigned i = 10; i < 15; ++i)
        expect(*one.request, i, DAT_DTO_ERR_FLUSHED);
    expect_event(*one.connection, DAT_CONNECTION_EVENT_DISCONNECTED);
    run(one, other);
    expect_event(*other.connection, DAT_CONNECTION_EVENT_DISCONNECTED);
    EXPECT_TRUE(one.ep->transfer.request_idle());
    EXPECT_TRUE(one.ep->transfer.recv_idle());
}

TEST_F(DaplTransfer, WhatThePeerCarriedOutBeforeItWentHasSucceeded) {
    connect(one, other);
    ASSERT_EQ(other.receive({to.at(0, 8)}, 1), DAT_SUCCESS);
    ASSERT_EQ(one.send({from.at(0, 8)}, 2), DAT_SUCCESS);
    ASSERT_EQ(one.send({from.at(0, 8)}, 3), DAT_SUCCESS);
    other.progress();
    expect(*other.recv, 1, DAT_DTO_SUCCESS, 8);
    EXPECT_EQ(other.ep->disconnect(DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS);
    one.ep->poll();
    expect(*one.request, 2, DAT_DTO_SUCCESS, 8);
    expect(*one.request, 3, DAT_DTO_ERR_FLUSHED);
    expect_event(*one.connection, DAT_CONNECTION_EVENT_DISCONNECTED);
}

TEST_F(DaplTransfer, AGracefulEndWaitsForRequests) {
    connect(one, other);
    ASSERT_EQ(one.send({from.at(0, 100000)}, 1), DAT_SUCCESS);
    EXPECT_EQ(one.ep->disconnect(DAT_CLOSE_GRACEFUL_FLAG), DAT_SUCCESS);
    EXPECT_EQ(one.send({from.at(0, 8)}),
              failure(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_DISCPENDING));
    run(one, other);
    EXPECT_EQ(one.ep->state, DAT_EP_STATE_DISCONNECT_PENDING);
    ASSERT_EQ(other.receive({to.at(0, 100000)}, 2), DAT_SUCCESS);
    run(one, other);
    expect(*one.request, 1, DAT_DTO_SUCCESS, 100000);
    expect(*other.recv, 2, DAT_DTO_SUCCESS, 100000);
    expect_event(*one.connection, DAT_CONNECTION_EVENT_DISCONNECTED);
    expect_event(*other.connection, DAT_CONNECTION_EVENT_DISCONNECTED);
}

TEST_F(DaplTransfer, ResetMakesTheQueuesAsNew) {
    for (int round = 0; round < 3; ++round) {
        connect(one, other);
        for (unsigned i = 0; i < 16; ++i)
            ASSERT_EQ(one.send({from.at(0, 8)}, i), DAT_SUCCESS);
        EXPECT_EQ(one.ep->disconnect(DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS);
        run(one, other);
        EXPECT_EQ(one.ep->reset(), DAT_SUCCESS);
        EXPECT_EQ(other.ep->reset(), DAT_SUCCESS);
        expect_nothing(*one.request);
    }
}

TEST_F(DaplTransfer, UnsignalledEventsDoNotNotify) {
    DAT_EP_ATTR quiet = attributes();
    quiet.request_completion_flags = quiet.recv_completion_flags = UNSIGNALLED;
    one = make_side(quiet);
    other = make_side(quiet);
    connect(one, other);
    ASSERT_EQ(other.receive({to.at(0, 8)}, 1, UNSIGNALLED), DAT_SUCCESS);
    ASSERT_EQ(one.send({from.at(0, 8)}, 2, UNSIGNALLED), DAT_SUCCESS);
    run(one, other);
    EXPECT_FALSE(one.request->triggers());
    EXPECT_FALSE(other.recv->triggers());
    ASSERT_EQ(other.receive({to.at(0, 8)}, 3), DAT_SUCCESS);
    ASSERT_EQ(one.send({from.at(0, 8)}, 4), DAT_SUCCESS);
    run(one, other);
    EXPECT_TRUE(one.request->triggers());
    EXPECT_TRUE(other.recv->triggers());
}

TEST_F(DaplTransfer, SolicitedReceivesNotifyOnlyIfTheSenderWantsIt) {
    DAT_EP_ATTR solicited = attributes();
    solicited.recv_completion_flags = SOLICITED;
    other = make_side(solicited);
    connect(one, other);
    ASSERT_EQ(other.receive({to.at(0, 8)}, 1), DAT_SUCCESS);
    ASSERT_EQ(other.receive({to.at(0, 8)}, 2), DAT_SUCCESS);
    ASSERT_EQ(one.send({from.at(0, 8)}, 3), DAT_SUCCESS);
    run(one, other);
    EXPECT_FALSE(other.recv->triggers());
    ASSERT_EQ(one.send({from.at(0, 8)}, 4, SOLICITED), DAT_SUCCESS);
    run(one, other);
    EXPECT_TRUE(other.recv->triggers());
}

TEST_F(DaplTransfer, AnErrorNotifiesWhateverWasAskedFor) {
    DAT_EP_ATTR quiet = attributes();
    quiet.request_completion_flags = UNSIGNALLED;
    one = make_side(quiet);
    connect(one, other);
    ASSERT_EQ(
        one.send({from.at(0, 8)}, 2, static_cast<DAT_COMPLETION_FLAGS>(UNSIGNALLED | SUPPRESS)),
        DAT_SUCCESS);
    EXPECT_EQ(one.ep->disconnect(DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS);
    EXPECT_TRUE(one.request->triggers());
    expect(*one.request, 2, DAT_DTO_ERR_FLUSHED);
}

} // namespace
