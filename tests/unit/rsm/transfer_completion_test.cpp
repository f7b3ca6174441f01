// SPDX-License-Identifier: MIT
// How transfers end, and who hears of it.
#include "transfer_fake.h"

namespace {

using namespace fake;

using DaplTransferCompletion = Pair;

TEST_F(DaplTransferCompletion, SuppressedSuccessesAreSilentAndFreeTheirPlaces) {
    connect(one, other);
    for (unsigned i = 0; i < 100; ++i) {
        ASSERT_EQ(other.receive({to.at(0, 8)}, i), Status::OK);
        ASSERT_EQ(one.send({from.at(0, 8)}, i, SUPPRESS), Status::OK);
        run(one, other);
        expect(*other.recv, i, CompletionStatus::OK, 8);
    }
    expect_nothing(*one.request);
}

class DaplTransferSuppressed : public Pair, public testing::WithParamInterface<bool> {};
INSTANTIATE_TEST_SUITE_P(Mapped, DaplTransferSuppressed, testing::Bool());

// Straight into the peer's memory, if it is mapped, from the second on.
TEST_P(DaplTransferSuppressed, WritesNeedNoRoomInTheEvd) {
    maps = GetParam();
    connect(one, other);
    ASSERT_EQ(one.write({from.at(0, 8)}, to.remote(0, 8), 1), Status::OK);
    run(one, other);
    expect(*one.request, 1, CompletionStatus::OK, 8);
    const int before = writes;
    while (one.request->has_room())
        ASSERT_EQ(one.request->post_software(nullptr), Status::OK);
    for (unsigned i = 1; i <= 100; ++i) {
        ASSERT_EQ(one.write({from.at(8 * i, 8)}, to.remote(8 * i, 8), i, SUPPRESS), Status::OK);
        expect_same(8 * (i + 1));
    }
    EXPECT_EQ(writes - before, maps ? 0 : 100);
    run(one, other);
    EXPECT_EQ(one.ep->state, EpState::CONNECTED);
    EXPECT_TRUE(one.ep->transfer->request_idle());
    expect_event(*one.request, EventKind::SOFTWARE);
}

TEST_F(DaplTransferCompletion, AConnectionThatLosesAnEventIsBroken) {
    connect(one, other);
    ASSERT_EQ(one.write({from.at(0, 8)}, to.remote(0, 8), 1), Status::OK);
    run(one, other);
    while (one.request->has_room())
        ASSERT_EQ(one.request->post_software(nullptr), Status::OK);
    ASSERT_EQ(one.write({from.at(0, 8)}, to.remote(0, 8), 2), Status::OK);
    EXPECT_EQ(one.ep->state, EpState::DISCONNECTED);
    run(one, other);
    expect_broken();
    expect_event(*async, EventKind::EVD_OVERFLOW);
}

TEST_F(DaplTransferCompletion, AQueueIsFullUntilEventsAreDequeued) {
    connect(one, other);
    for (unsigned i = 0; i < 16; ++i) {
        ASSERT_EQ(other.receive({to.at(0, 8)}, i), Status::OK);
        ASSERT_EQ(one.send({from.at(0, 8)}, i), Status::OK);
    }
    const Status full = Status::NO_MEMORY;
    run(one, other);
    EXPECT_EQ(one.send({from.at(0, 8)}), full);
    EXPECT_EQ(one.write({from.at(0, 8)}, to.remote(0, 8)), full);
    EXPECT_EQ(other.receive({to.at(0, 8)}), full);
    expect(*one.request, 0, CompletionStatus::OK, 8);
    expect(*other.recv, 0, CompletionStatus::OK, 8);
    EXPECT_EQ(one.send({from.at(0, 8)}), Status::OK);
    EXPECT_EQ(other.receive({to.at(0, 8)}), Status::OK);
}

TEST_F(DaplTransferCompletion, EverythingOutstandingIsFlushedInOrder) {
    connect(one, other);
    for (unsigned i = 0; i < 3; ++i) {
        ASSERT_EQ(one.receive({to.at(0, 8)}, i), Status::OK);
        ASSERT_EQ(one.send({from.at(0, 8)}, 10 + i, SUPPRESS), Status::OK);
    }
    EXPECT_EQ(one.ep->disconnect(Close::ABRUPT), Status::OK);
    ASSERT_EQ(one.receive({to.at(0, 8)}, 3), Status::OK);
    ASSERT_EQ(one.send({from.at(0, 8)}, 13, SUPPRESS), Status::OK);
    ASSERT_EQ(one.write({from.at(0, 8)}, to.remote(0, 8), 14), Status::OK);
    for (unsigned i = 0; i < 4; ++i)
        expect(*one.recv, i, CompletionStatus::FLUSHED);
    for (unsigned i = 10; i < 15; ++i)
        expect(*one.request, i, CompletionStatus::FLUSHED);
    expect_event(*one.connection, EventKind::DISCONNECTED);
    run(one, other);
    expect_event(*other.connection, EventKind::DISCONNECTED);
    EXPECT_TRUE(one.ep->transfer->request_idle());
    EXPECT_TRUE(one.ep->transfer->recv_idle());
}

TEST_F(DaplTransferCompletion, WhatThePeerCarriedOutBeforeItWentHasSucceeded) {
    connect(one, other);
    ASSERT_EQ(other.receive({to.at(0, 8)}, 1), Status::OK);
    ASSERT_EQ(one.send({from.at(0, 8)}, 2), Status::OK);
    ASSERT_EQ(one.send({from.at(0, 8)}, 3), Status::OK);
    other.progress();
    expect(*other.recv, 1, CompletionStatus::OK, 8);
    EXPECT_EQ(other.ep->disconnect(Close::ABRUPT), Status::OK);
    one.ep->connector->poll(false);
    expect(*one.request, 2, CompletionStatus::OK, 8);
    expect(*one.request, 3, CompletionStatus::FLUSHED);
    expect_event(*one.connection, EventKind::DISCONNECTED);
}

TEST_F(DaplTransferCompletion, AGracefulEndWaitsForRequests) {
    connect(one, other);
    ASSERT_EQ(one.send({from.at(0, 100000)}, 1), Status::OK);
    EXPECT_EQ(one.ep->disconnect(Close::GRACEFUL), Status::OK);
    EXPECT_EQ(one.send({from.at(0, 8)}), Status::EP_DISCONNECT_PENDING);
    run(one, other);
    EXPECT_EQ(one.ep->state, EpState::DISCONNECT_PENDING);
    ASSERT_EQ(other.receive({to.at(0, 100000)}, 2), Status::OK);
    run(one, other);
    expect(*one.request, 1, CompletionStatus::OK, 100000);
    expect(*other.recv, 2, CompletionStatus::OK, 100000);
    expect_event(*one.connection, EventKind::DISCONNECTED);
    expect_event(*other.connection, EventKind::DISCONNECTED);
}

TEST_F(DaplTransferCompletion, ResetMakesTheQueuesAsNew) {
    for (int round = 0; round < 3; ++round) {
        connect(one, other);
        for (unsigned i = 0; i < 16; ++i)
            ASSERT_EQ(one.send({from.at(0, 8)}, i), Status::OK);
        EXPECT_EQ(one.ep->disconnect(Close::ABRUPT), Status::OK);
        run(one, other);
        EXPECT_EQ(one.ep->reset(), Status::OK);
        EXPECT_EQ(other.ep->reset(), Status::OK);
        expect_nothing(*one.request);
    }
}

TEST_F(DaplTransferCompletion, UnsignalledEventsDoNotNotify) {
    EpAttributes quiet = attributes();
    quiet.request_completion_flags = quiet.recv_completion_flags = UNSIGNALLED;
    one = make_side(quiet);
    other = make_side(quiet);
    connect(one, other);
    ASSERT_EQ(other.receive({to.at(0, 8)}, 1, UNSIGNALLED), Status::OK);
    ASSERT_EQ(one.send({from.at(0, 8)}, 2, UNSIGNALLED), Status::OK);
    run(one, other);
    EXPECT_FALSE(one.request->triggers());
    EXPECT_FALSE(other.recv->triggers());
    ASSERT_EQ(other.receive({to.at(0, 8)}, 3), Status::OK);
    ASSERT_EQ(one.send({from.at(0, 8)}, 4), Status::OK);
    run(one, other);
    EXPECT_TRUE(one.request->triggers());
    EXPECT_TRUE(other.recv->triggers());
}

TEST_F(DaplTransferCompletion, SolicitedReceivesNotifyOnlyIfTheSenderWantsIt) {
    EpAttributes solicited = attributes();
    solicited.recv_completion_flags = SOLICITED;
    other = make_side(solicited);
    connect(one, other);
    ASSERT_EQ(other.receive({to.at(0, 8)}, 1), Status::OK);
    ASSERT_EQ(other.receive({to.at(0, 8)}, 2), Status::OK);
    ASSERT_EQ(one.send({from.at(0, 8)}, 3), Status::OK);
    run(one, other);
    EXPECT_FALSE(other.recv->triggers());
    ASSERT_EQ(one.send({from.at(0, 8)}, 4, SOLICITED), Status::OK);
    run(one, other);
    EXPECT_TRUE(other.recv->triggers());
}

TEST_F(DaplTransferCompletion, AnErrorNotifiesWhateverWasAskedFor) {
    EpAttributes quiet = attributes();
    quiet.request_completion_flags = UNSIGNALLED;
    one = make_side(quiet);
    connect(one, other);
    ASSERT_EQ(
        one.send({from.at(0, 8)}, 2, static_cast<CompletionFlags>(UNSIGNALLED | SUPPRESS)),
        Status::OK);
    EXPECT_EQ(one.ep->disconnect(Close::ABRUPT), Status::OK);
    EXPECT_TRUE(one.request->triggers());
    expect(*one.request, 2, CompletionStatus::FLUSHED);
}

} // namespace
