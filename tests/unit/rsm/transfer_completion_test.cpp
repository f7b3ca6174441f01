// SPDX-License-Identifier: MIT
// How transfers end, and who hears of it.
#include "transfer_fake.h"

namespace {

using namespace fake;
using rsmdat::failure;

using DaplTransferCompletion = Pair;

TEST_F(DaplTransferCompletion, SuppressedSuccessesAreSilentAndFreeTheirPlaces) {
    connect(one, other);
    for (unsigned i = 0; i < 100; ++i) {
        ASSERT_EQ(other.receive({to.at(0, 8)}, i), DAT_SUCCESS);
        ASSERT_EQ(one.send({from.at(0, 8)}, i, SUPPRESS), DAT_SUCCESS);
        run(one, other);
        expect(*other.recv, i, DAT_DTO_SUCCESS, 8);
    }
    expect_nothing(*one.request);
}

// Straight into the peer's memory, from the second on.
TEST_F(DaplTransferCompletion, SuppressedWritesNeedNoRoomInTheEvd) {
    connect(one, other);
    ASSERT_EQ(one.write({from.at(0, 8)}, to.remote(0, 8), 1), DAT_SUCCESS);
    run(one, other);
    expect(*one.request, 1, DAT_DTO_SUCCESS, 8);
    while (one.request->has_room())
        ASSERT_EQ(one.request->post_software(nullptr), DAT_SUCCESS);
    for (unsigned i = 1; i <= 100; ++i) {
        ASSERT_EQ(one.write({from.at(8 * i, 8)}, to.remote(8 * i, 8), i, SUPPRESS), DAT_SUCCESS);
        expect_same(8 * (i + 1));
    }
    run(one, other);
    EXPECT_EQ(one.ep->state, DAT_EP_STATE_CONNECTED);
    EXPECT_TRUE(one.ep->transfer->request_idle());
    expect_event(*one.request, DAT_SOFTWARE_EVENT);
}

TEST_F(DaplTransferCompletion, AConnectionThatLosesAnEventIsBroken) {
    connect(one, other);
    ASSERT_EQ(one.write({from.at(0, 8)}, to.remote(0, 8), 1), DAT_SUCCESS);
    run(one, other);
    while (one.request->has_room())
        ASSERT_EQ(one.request->post_software(nullptr), DAT_SUCCESS);
    ASSERT_EQ(one.write({from.at(0, 8)}, to.remote(0, 8), 2), DAT_SUCCESS);
    EXPECT_EQ(one.ep->state, DAT_EP_STATE_DISCONNECTED);
    run(one, other);
    expect_broken();
    expect_event(*async, DAT_ASYNC_ERROR_EVD_OVERFLOW);
}

TEST_F(DaplTransferCompletion, AQueueIsFullUntilEventsAreDequeued) {
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

TEST_F(DaplTransferCompletion, EverythingOutstandingIsFlushedInOrder) {
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
    EXPECT_TRUE(one.ep->transfer->request_idle());
    EXPECT_TRUE(one.ep->transfer->recv_idle());
}

TEST_F(DaplTransferCompletion, WhatThePeerCarriedOutBeforeItWentHasSucceeded) {
    connect(one, other);
    ASSERT_EQ(other.receive({to.at(0, 8)}, 1), DAT_SUCCESS);
    ASSERT_EQ(one.send({from.at(0, 8)}, 2), DAT_SUCCESS);
    ASSERT_EQ(one.send({from.at(0, 8)}, 3), DAT_SUCCESS);
    other.progress();
    expect(*other.recv, 1, DAT_DTO_SUCCESS, 8);
    EXPECT_EQ(other.ep->disconnect(DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS);
    one.ep->connector->poll(false);
    expect(*one.request, 2, DAT_DTO_SUCCESS, 8);
    expect(*one.request, 3, DAT_DTO_ERR_FLUSHED);
    expect_event(*one.connection, DAT_CONNECTION_EVENT_DISCONNECTED);
}

TEST_F(DaplTransferCompletion, AGracefulEndWaitsForRequests) {
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

TEST_F(DaplTransferCompletion, ResetMakesTheQueuesAsNew) {
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

TEST_F(DaplTransferCompletion, UnsignalledEventsDoNotNotify) {
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

TEST_F(DaplTransferCompletion, SolicitedReceivesNotifyOnlyIfTheSenderWantsIt) {
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

TEST_F(DaplTransferCompletion, AnErrorNotifiesWhateverWasAskedFor) {
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
