// SPDX-License-Identifier: MIT
// RDMA: straight into the memory of a peer on the same node, or by the peer.
#include "transfer_fake.h"

namespace {

using namespace fake;

using DaplTransferRdma = Pair;

TEST_F(DaplTransferRdma, RdmaGoesStraightIntoTheMemoryOfAPeerOnTheSameNode) {
    connect(one, other);
    ASSERT_EQ(one.write({from.at(5, 1000), from.at(1005, 24)}, to.remote(3, 2000), 1), Status::OK);
    expect_nothing(*one.request); // the peer is asked
    run(one, other);
    expect(*one.request, 1, CompletionStatus::OK, 1024);
    expect_same(1024, 5, 3);
    // From now on the peer does not hear of it.
    const int before = bells;
    ASSERT_EQ(one.write({from.at(0, 8)}, to.remote(0, 8), 2), Status::OK);
    expect(*one.request, 2, CompletionStatus::OK, 8);
    expect_same(8);
    from.fill(77);
    ASSERT_EQ(one.read({from.at(0, 500), from.at(500, 1500)}, to.remote(3, 1024), 3), Status::OK);
    expect(*one.request, 3, CompletionStatus::OK, 1024);
    expect_same(1024, 0, 3);
    EXPECT_EQ(bells, before);
}

TEST_F(DaplTransferRdma, DirectRdmaIsReportedAfterWhatWasPostedBefore) {
    connect(one, other);
    ASSERT_EQ(one.write({from.at(0, 8)}, to.remote(0, 8), 1), Status::OK);
    run(one, other);
    expect(*one.request, 1, CompletionStatus::OK, 8);
    ASSERT_EQ(one.send({from.at(0, 8)}, 2), Status::OK);
    ASSERT_EQ(one.write({from.at(0, 8)}, to.remote(0, 8), 3), Status::OK);
    expect_nothing(*one.request);
    ASSERT_EQ(other.receive({to.at(0, 8)}, 4), Status::OK);
    run(one, other);
    expect(*one.request, 2, CompletionStatus::OK, 8);
    expect(*one.request, 3, CompletionStatus::OK, 8);
}

TEST_F(DaplTransferRdma, MemoryThatHasGoneIsAnErrorOnBothSides) {
    connect(one, other);
    ASSERT_EQ(one.write({from.at(0, 8)}, to.remote(0, 8), 1), Status::OK);
    run(one, other);
    expect(*one.request, 1, CompletionStatus::OK, 8);
    const RemoteSegment stale = to.remote(0, 8);
    forget(to);
    ASSERT_EQ(one.write({from.at(0, 8)}, stale, 2), Status::OK);
    ASSERT_EQ(one.write({from.at(0, 8)}, stale, 3, SUPPRESS), Status::OK);
    run(one, other);
    expect(*one.request, 2, CompletionStatus::REMOTE_ACCESS);
    expect(*one.request, 3, CompletionStatus::FLUSHED);
    expect_broken();
}

TEST_F(DaplTransferRdma, WhatIsOutOfBoundsOrWithoutRightIsRefused) {
    Memory readable = make_memory(100, rights::READ);
    const std::vector<RemoteSegment> bad{
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
            ASSERT_EQ(one.write({from.at(0, 8)}, target, 1), Status::OK);
            run(one, other);
            expect(*one.request, 1, CompletionStatus::REMOTE_ACCESS);
            expect_broken();
            EXPECT_EQ(one.ep->reset(), Status::OK);
            EXPECT_EQ(other.ep->reset(), Status::OK);
        }
}

// "Data, then valid flag": a wrong place for the data must not set the flag.
TEST_F(DaplTransferRdma, NothingBehindARefusedRequestIsCarriedOut) {
    Memory flag = make_memory(64);
    Memory readable = make_memory(100, rights::READ);
    connect(one, other);
    ASSERT_EQ(one.write({from.at(0, 8)}, flag.remote(32, 8), 1), Status::OK);
    run(one, other); // straight from now on
    expect(*one.request, 1, CompletionStatus::OK, 8);
    ASSERT_EQ(one.write({from.at(0, 8)}, readable.remote(0, 8), 2), Status::OK);
    one.progress();
    ASSERT_EQ(one.write({from.at(0, 8)}, flag.remote(0, 8), 3), Status::OK);
    ASSERT_EQ(one.read({from.at(0, 8)}, flag.remote(32, 8), 4), Status::OK);
    ASSERT_EQ(one.write({from.at(0, 8)}, flag.remote(8, 8), 5, SUPPRESS), Status::OK);
    ASSERT_EQ(one.send({from.at(0, 8)}, 6), Status::OK);
    ASSERT_EQ(other.receive({to.at(0, 8)}, 7), Status::OK);
    run(one, other);
    expect(*one.request, 2, CompletionStatus::REMOTE_ACCESS);
    for (std::uint64_t behind = 3; behind <= 6; ++behind)
        expect(*one.request, behind, CompletionStatus::FLUSHED);
    expect(*other.recv, 7, CompletionStatus::FLUSHED);
    expect_broken();
    for (std::size_t at = 0; at < 32; ++at)
        EXPECT_EQ(flag.bytes[at], std::byte{0}) << at;
}

TEST_F(DaplTransferRdma, NothingBehindARefusedReadIsCarriedOut) {
    Memory flag = make_memory(64);
    Memory writable = make_memory(100, rights::WRITE);
    for (const std::uint32_t node : {HERE, ELSEWHERE}) {
        connect(one, other, node);
        ASSERT_EQ(one.read({from.at(64, 8)}, writable.remote(0, 8), 1), Status::OK);
        ASSERT_EQ(one.write({from.at(0, 8)}, flag.remote(0, 8), 2), Status::OK);
        ASSERT_EQ(one.send({from.at(0, 8)}, 3), Status::OK);
        ASSERT_EQ(other.receive({to.at(0, 8)}, 4), Status::OK);
        run(one, other);
        expect(*one.request, 1, CompletionStatus::REMOTE_ACCESS);
        expect(*one.request, 2, CompletionStatus::FLUSHED);
        expect(*one.request, 3, CompletionStatus::FLUSHED);
        expect(*other.recv, 4, CompletionStatus::FLUSHED);
        expect_broken();
        EXPECT_EQ(flag.bytes[0], std::byte{0});
        EXPECT_EQ(one.ep->reset(), Status::OK);
        EXPECT_EQ(other.ep->reset(), Status::OK);
    }
}

// The answer does not fit into the ring at once: what is behind the read waits for the rest, which
// may still be refused.
TEST_F(DaplTransferRdma, NothingBehindAReadThatIsRefusedHalfwayIsCarriedOut) {
    Memory source = make_memory(8 * RING);
    connect(one, other, ELSEWHERE);
    ASSERT_EQ(one.read({from.at(0, 8 * RING)}, source.remote(0, 8 * RING), 1), Status::OK);
    ASSERT_EQ(one.send({from.at(0, 8)}, 2), Status::OK);
    ASSERT_EQ(other.receive({to.at(0, 8)}, 3), Status::OK);
    other.progress();
    expect_nothing(*other.recv);
    forget(source);
    run(one, other);
    expect(*one.request, 1, CompletionStatus::REMOTE_ACCESS);
    expect(*one.request, 2, CompletionStatus::FLUSHED);
    expect(*other.recv, 3, CompletionStatus::FLUSHED);
    expect_broken();
}

TEST_F(DaplTransferRdma, WhatIsBehindALongReadFollowsIt) {
    Memory source = make_memory(8 * RING);
    connect(one, other, ELSEWHERE);
    ASSERT_EQ(one.read({from.at(0, 8 * RING)}, source.remote(0, 8 * RING), 1), Status::OK);
    ASSERT_EQ(one.send({from.at(0, 8)}, 2), Status::OK);
    ASSERT_EQ(other.receive({to.at(0, 8)}, 3), Status::OK);
    run(one, other);
    expect(*one.request, 1, CompletionStatus::OK, 8 * RING);
    expect(*one.request, 2, CompletionStatus::OK, 8);
    expect(*other.recv, 3, CompletionStatus::OK, 8);
}

// It waits for the answer to what is ahead of it, and then goes straight again.
TEST_F(DaplTransferRdma, DirectRdmaWaitsForRdmaThatThePeerCarriesOut) {
    connect(one, other);
    grants = false;
    ASSERT_EQ(one.write({from.at(0, 8)}, to.remote(0, 8), 1), Status::OK);
    run(one, other);
    expect(*one.request, 1, CompletionStatus::OK, 8);
    Memory second = make_memory(64);
    grants = true;
    ASSERT_EQ(one.write({from.at(0, 8)}, second.remote(0, 8), 2), Status::OK);
    run(one, other);
    expect(*one.request, 2, CompletionStatus::OK, 8);
    ASSERT_EQ(one.write({from.at(8, 8)}, to.remote(8, 8), 3), Status::OK);
    ASSERT_EQ(one.write({from.at(8, 8)}, second.remote(8, 8), 4), Status::OK);
    EXPECT_EQ(second.bytes[8], std::byte{0});
    run(one, other);
    expect(*one.request, 3, CompletionStatus::OK, 8);
    expect(*one.request, 4, CompletionStatus::OK, 8);
    EXPECT_EQ(second.bytes[8], from.bytes[8]);
}

// The send's receive is too small. The write behind it has happened; it does not count.
TEST_F(DaplTransferRdma, SuccessDoesNotFollowAFault) {
    connect(one, other);
    ASSERT_EQ(one.write({from.at(0, 8)}, to.remote(0, 8), 1), Status::OK);
    run(one, other);
    expect(*one.request, 1, CompletionStatus::OK, 8);
    ASSERT_EQ(one.send({from.at(0, 8)}, 2), Status::OK);
    ASSERT_EQ(one.write({from.at(0, 8)}, to.remote(16, 8), 3), Status::OK);
    ASSERT_EQ(other.receive({to.at(0, 4)}, 4), Status::OK);
    run(one, other);
    expect(*one.request, 2, CompletionStatus::REMOTE_RESPONDER);
    expect(*one.request, 3, CompletionStatus::FLUSHED);
    expect(*other.recv, 4, CompletionStatus::LOCAL_LENGTH);
    expect_broken();
}

TEST_F(DaplTransferRdma, WithoutATicketRdmaGoesThroughTheRing) {
    grants = false;
    connect(one, other);
    ASSERT_EQ(one.write({from.at(0, 100000)}, to.remote(1, 100000), 1), Status::OK);
    ASSERT_EQ(one.read({from.at(100000, 100000)}, to.remote(1, 100000), 2), Status::OK);
    run(one, other);
    expect(*one.request, 1, CompletionStatus::OK, 100000);
    expect(*one.request, 2, CompletionStatus::OK, 100000);
    expect_same(100000, 0, 1);
    expect_same(100000, 100000, 1);
}

TEST_F(DaplTransferRdma, RdmaBetweenNodesIsDoneByThePeer) {
    connect(one, other, ELSEWHERE);
    ASSERT_EQ(one.write({from.at(0, 60000), from.at(60000, 40001)}, to.remote(3, 100001), 1),
              Status::OK);
    ASSERT_EQ(other.receive({}, 9), Status::OK);
    ASSERT_EQ(one.send({}, 2), Status::OK);
    for (unsigned i = 0; i < 5; ++i) // two at a time
        ASSERT_EQ(one.read({from.at(i, 3), from.at(400000 + i * 100000U, 100001)},
                           to.remote(3, 100001), 10 + i),
                  Status::OK);
    run(one, other);
    expect(*one.request, 1, CompletionStatus::OK, 100001);
    expect(*other.recv, 9, CompletionStatus::OK, 0);
    expect(*one.request, 2, CompletionStatus::OK, 0);
    for (unsigned i = 0; i < 5; ++i)
        expect(*one.request, 10 + i, CompletionStatus::OK, 100001);
    expect_same(90000, 800000, 6);
}

TEST_F(DaplTransferRdma, AFenceWaitsForReads) {
    connect(one, other, ELSEWHERE);
    ASSERT_EQ(other.receive({to.at(0, 8)}, 1), Status::OK);
    ASSERT_EQ(other.receive({to.at(0, 8)}, 2), Status::OK);
    ASSERT_EQ(one.read({from.at(0, 8)}, to.remote(8, 8), 3), Status::OK);
    ASSERT_EQ(one.send({from.at(8, 8)}, 4), Status::OK);
    ASSERT_EQ(one.send({from.at(8, 8)}, 5, FENCE), Status::OK);
    other.progress();
    expect(*other.recv, 1, CompletionStatus::OK, 8);
    expect_nothing(*other.recv);
    run(one, other);
    expect(*other.recv, 2, CompletionStatus::OK, 8);
    for (unsigned i = 3; i < 6; ++i)
        expect(*one.request, i, CompletionStatus::OK, 8);
}

TEST_F(DaplTransferRdma, AReadWithoutCreditsFails) {
    EpAttributes none = attributes();
    none.max_rdma_read_out = 0;
    one = make_side(none);
    connect(one, other);
    ASSERT_EQ(one.read({from.at(0, 8)}, to.remote(0, 8), 1), Status::OK);
    run(one, other);
    expect(*one.request, 1, CompletionStatus::LOCAL_ENDPOINT);
    expect_broken();
}

TEST_F(DaplTransferRdma, RdmaOfNothingNeedsNoTarget) {
    connect(one, other);
    ASSERT_EQ(one.write({}, {12345, 0, 1, 0}, 1), Status::OK);
    ASSERT_EQ(one.read({}, {12345, 0, 1, 0}, 2), Status::OK);
    expect(*one.request, 1, CompletionStatus::OK, 0);
    expect(*one.request, 2, CompletionStatus::OK, 0);
}

TEST_F(DaplTransferRdma, ReadsBeforeAFaultAreAnsweredFirst) {
    connect(one, other, ELSEWHERE);
    ASSERT_EQ(one.read({from.at(0, 100000)}, to.remote(0, 100000), 1), Status::OK);
    ASSERT_EQ(one.write({from.at(0, 8)}, {1, 0, to.address(), 8}, 2), Status::OK);
    run(one, other);
    expect(*one.request, 1, CompletionStatus::OK, 100000);
    expect(*one.request, 2, CompletionStatus::REMOTE_ACCESS);
    expect_broken();
}

// To unmap a region can take long, and Ia::lock is held where a connection ends.
TEST_F(DaplTransferRdma, RegionsOfThePeerAreClosedByAHelper) {
    connect(one, other);
    ASSERT_EQ(one.write({from.at(0, 8)}, to.remote(0, 8), 1), Status::OK);
    run(one, other);
    expect(*one.request, 1, CompletionStatus::OK, 8);
    region_closed_by = std::thread::id();
    ASSERT_EQ(one.ep->disconnect(Close::ABRUPT), Status::OK);
    EXPECT_EQ(region_closed_by.load(), std::thread::id()); // functions with the lock may use it
    guard.unlock();
    while (region_closed_by.load() == std::thread::id())
        std::this_thread::yield();
    guard.lock();
    EXPECT_NE(region_closed_by.load(), std::this_thread::get_id());
}

} // namespace
