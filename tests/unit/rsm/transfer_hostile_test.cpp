// SPDX-License-Identifier: MIT
// A peer that does not follow the rules: the connection breaks, and nothing else does.
#include "transfer_fake.h"

#include <random>

namespace {

using namespace fake;
using rsmengine::Channel;
using rsmengine::MessageHeader;
using rsmengine::MessageKind;
using Ring = rsmengine::Channel::Ring;

constexpr std::uint8_t FIRST = rsmengine::message_flags::FIRST;
constexpr std::uint8_t LAST = rsmengine::message_flags::LAST;

class DaplTransferHostile : public Pair {
  protected:
    void SetUp() override {
        Pair::SetUp();
        fresh();
    }
    void fresh(std::uint32_t node = HERE) {
        peer.reset();
        one = make_side();
        ASSERT_EQ(one.receive({to.at(0, 100)}, 1), Status::OK);
        peer = connect(one, node);
    }
    void say(Ring ring, MessageHeader header, std::size_t length = 0) {
        const std::array payload{std::span<const std::byte>(from.bytes).first(length)};
        ASSERT_TRUE(peer->send(ring, header, payload));
    }
    void request(MessageKind kind, std::uint8_t flags, std::uint64_t total,
                 std::size_t length = 0) {
        MessageHeader header{};
        header.kind = kind;
        header.flags = flags;
        header.total = total;
        header.context = to.region->context;
        header.address = to.address();
        say(Ring::REQUEST, header, length);
    }
    void response(MessageKind kind, std::uint64_t total = 0, std::size_t length = 0,
                  std::uint16_t status = 0, std::uint32_t context = 0) {
        MessageHeader header{};
        header.kind = kind;
        header.total = total;
        header.status = status;
        header.context = context;
        say(Ring::RESPONSE, header, length);
    }
    void expect_broken_here() {
        one.ep->connector->poll(false);
        EXPECT_EQ(one.ep->state, EpState::DISCONNECTED);
        expect_event(*one.connection, EventKind::BROKEN);
        EXPECT_EQ(peer->ours().state, static_cast<std::uint32_t>(rsmengine::LinkState::BROKEN));
    }

    std::unique_ptr<Channel> peer;
};

TEST_F(DaplTransferHostile, RequestsThatMakeNoSense) {
    struct Case {
        MessageKind kind;
        std::uint8_t flags;
        std::uint64_t total;
        std::size_t length;
    };
    const std::vector<Case> cases{
        {static_cast<MessageKind>(99), FIRST | LAST, 8, 8},
        {MessageKind::GRANT, 0, 0, 8},
        {MessageKind::SEND, LAST, 8, 8},         // no first piece
        {MessageKind::SEND, FIRST | LAST, 8, 7}, // too little
        {MessageKind::SEND, FIRST | LAST, 8, 9}, // too much
        {MessageKind::SEND, FIRST, 8, 8},        // complete, and not the last
        {MessageKind::SEND, FIRST, 8, 0},        // nothing, and not the last
        {MessageKind::SEND, FIRST, std::uint64_t{1} << 40, 8},
        {MessageKind::SEND, FIRST, ~std::uint64_t{0}, 8},
        {MessageKind::WRITE, LAST, 8, 8},
        {MessageKind::WRITE, FIRST | LAST, 8, 9},
        {MessageKind::WRITE, FIRST, ~std::uint64_t{0}, 8},
        {MessageKind::READ, FIRST | LAST, 0, 0},
        {MessageKind::READ, FIRST | LAST, 8, 8},
        {MessageKind::READ, FIRST | LAST, ~std::uint64_t{0}, 0},
    };
    for (const Case &bad : cases) {
        request(bad.kind, bad.flags, bad.total, bad.length);
        expect_broken_here();
        expect(*one.recv, 1, CompletionStatus::FLUSHED);
        fresh();
    }
}

TEST_F(DaplTransferHostile, PiecesOfOneRequestWithinAnother) {
    for (const MessageKind kind : {MessageKind::SEND, MessageKind::WRITE, MessageKind::READ}) {
        request(MessageKind::SEND, FIRST, 16, 8);
        request(kind, FIRST | LAST, 8, kind == MessageKind::READ ? 0 : 8);
        expect_broken_here();
        fresh();
        request(MessageKind::SEND, FIRST, 16, 8);
        request(MessageKind::WRITE, LAST, 16, 8);
        expect_broken_here();
        fresh();
    }
}

TEST_F(DaplTransferHostile, AnswersThatNobodyAskedFor) {
    for (const MessageKind kind :
         {MessageKind::READ_DATA, MessageKind::GRANT, MessageKind::FAULT, MessageKind::SEND,
          MessageKind::WRITE, MessageKind::READ, static_cast<MessageKind>(77)}) {
        response(kind, 0, 8);
        expect_broken_here();
        fresh();
    }
    response(MessageKind::DONE, 1);
    expect_broken_here();
}

TEST_F(DaplTransferHostile, TheOldestRequestIsBlamedForABadAnswer) {
    ASSERT_EQ(one.send({from.at(0, 8)}, 5), Status::OK);
    ASSERT_EQ(one.send({from.at(0, 8)}, 6), Status::OK);
    peer->set_executed(3);
    expect_broken_here();
    expect(*one.request, 5, CompletionStatus::BAD_RESPONSE);
    expect(*one.request, 6, CompletionStatus::FLUSHED);
}

TEST_F(DaplTransferHostile, AnswersToAReadThatAreTooLongOrEmpty) {
    for (const std::size_t length : {std::size_t{0}, std::size_t{9}}) {
        fresh(ELSEWHERE);
        ASSERT_EQ(one.read({from.at(0, 8)}, to.remote(0, 8), 2), Status::OK);
        response(MessageKind::READ_DATA, 0, length);
        expect_broken_here();
        expect(*one.request, 2, CompletionStatus::BAD_RESPONSE);
    }
}

TEST_F(DaplTransferHostile, FaultsOfRequestsThatAreDoneOrHaveNotBeen) {
    ASSERT_EQ(one.send({from.at(0, 8)}, 5), Status::OK);
    peer->set_executed(1);
    response(MessageKind::FAULT, 0, 0, rsmengine::on_wire(CompletionStatus::REMOTE_ACCESS));
    expect_broken_here();
    expect(*one.request, 5, CompletionStatus::OK, 8);
    fresh();
    ASSERT_EQ(one.send({from.at(0, 8)}, 5), Status::OK);
    response(MessageKind::FAULT, 1, 0, rsmengine::on_wire(CompletionStatus::REMOTE_ACCESS));
    expect_broken_here();
    expect(*one.request, 5, CompletionStatus::BAD_RESPONSE);
}

TEST_F(DaplTransferHostile, StatusOfAFaultThatCanNotBe) {
    for (const int status : {0, 1, 11, 0xffff}) {
        fresh();
        ASSERT_EQ(one.send({from.at(0, 8)}, 5), Status::OK);
        response(MessageKind::FAULT, 0, 0, static_cast<std::uint16_t>(status));
        expect_broken_here();
        expect(*one.request, 5, CompletionStatus::BAD_RESPONSE);
    }
}

TEST_F(DaplTransferHostile, GrantsOfOtherThings) {
    ASSERT_EQ(one.write({from.at(0, 8)}, to.remote(0, 8), 2), Status::OK);
    response(MessageKind::GRANT, 0, sizeof(rsmengine::Grant), 0, to.region->context + 1);
    expect_broken_here();
    fresh();
    ASSERT_EQ(one.write({from.at(0, 8)}, to.remote(0, 8), 2), Status::OK);
    response(MessageKind::GRANT, 0, sizeof(rsmengine::Grant) - 1, 0, to.region->context);
    expect_broken_here();
}

TEST_F(DaplTransferHostile, ATicketThatIsNoneLeadsThroughTheRing) {
    ASSERT_EQ(one.write({from.at(0, 8)}, to.remote(0, 8), 2), Status::OK);
    response(MessageKind::GRANT, 0, sizeof(rsmengine::Grant), 0, to.region->context);
    one.ep->connector->poll(false);
    rsmengine::Message message{};
    ASSERT_EQ(peer->receive(Ring::REQUEST, message), rsmengine::Arrived::MESSAGE);
    EXPECT_EQ(message.header.kind, MessageKind::WRITE);
    EXPECT_EQ(one.ep->state, EpState::CONNECTED);
}

TEST_F(DaplTransferHostile, AQuestionForMemoryThatItCouldNotReach) {
    fresh(ELSEWHERE);
    response(MessageKind::ASK);
    expect_broken_here();
}

TEST_F(DaplTransferHostile, MoreReadsThanAgreed) {
    fresh(ELSEWHERE);
    for (int i = 0; i < 3; ++i)
        request(MessageKind::READ, FIRST | LAST, 1 << 20);
    one.ep->connector->poll(false);
    EXPECT_EQ(one.ep->state, EpState::CONNECTED); // the two before it are being answered
    rsmengine::Message message{};
    for (std::size_t read = 0; read < 2U << 20;) {
        if (peer->receive(Ring::RESPONSE, message) != rsmengine::Arrived::MESSAGE) {
            one.ep->connector->poll(false);
            continue;
        }
        ASSERT_EQ(message.header.kind, MessageKind::READ_DATA);
        read += message.payload.size();
        peer->consume(Ring::RESPONSE);
    }
    one.ep->connector->poll(false);
    ASSERT_EQ(peer->receive(Ring::RESPONSE, message), rsmengine::Arrived::MESSAGE);
    EXPECT_EQ(message.header.kind, MessageKind::FAULT);
    EXPECT_EQ(message.header.status, rsmengine::on_wire(CompletionStatus::REMOTE_RESPONDER));
    EXPECT_EQ(message.header.total, 2U);
    expect_event(*one.connection, EventKind::BROKEN);
}

TEST_F(DaplTransferHostile, APeerThatTakesNoFaultIsNotWaitedForForLong) {
    fresh(ELSEWHERE);
    for (std::uint32_t more_than = 0; more_than <= one.ep->link->max_rdma_read_in; ++more_than)
        request(MessageKind::READ, FIRST | LAST, 1 << 20);
    one.ep->connector->poll(false);
    guard.unlock();
    DAT_EVENT event{};
    Count more = 0;
    EXPECT_EQ(
        rsmdat::evd_wait(one.connection->handle(), DAT_TIMEOUT_INFINITE, 1, &event, &more),
        DAT_SUCCESS);
    guard.lock();
    EXPECT_EQ(event.event_number, DAT_CONNECTION_EVENT_BROKEN);
}

// The peer's segment, where it counts what it has carried out, may be gone when its fault is read.
TEST_F(DaplTransferHostile, AFaultSaysThatAllAheadOfItWasCarriedOut) {
    ASSERT_EQ(one.send({from.at(0, 8)}, 2), Status::OK);
    ASSERT_EQ(one.send({from.at(0, 8)}, 3), Status::OK);
    ASSERT_EQ(one.send({from.at(0, 8)}, 4), Status::OK);
    MessageHeader header{};
    header.kind = MessageKind::FAULT;
    header.status = rsmengine::on_wire(CompletionStatus::REMOTE_RESPONDER);
    header.total = 1;
    say(Ring::RESPONSE, header);
    one.ep->connector->poll(false);
    expect(*one.request, 2, CompletionStatus::OK, 8);
    expect(*one.request, 3, CompletionStatus::REMOTE_RESPONDER);
    expect(*one.request, 4, CompletionStatus::FLUSHED);
}

TEST_F(DaplTransferHostile, APieceOfAWriteIntoMemoryThatGoesMeanwhile) {
    request(MessageKind::WRITE, FIRST, 16, 8);
    one.ep->connector->poll(false);
    EXPECT_EQ(std::memcmp(from.bytes.data(), to.bytes.data(), 8), 0);
    const auto context = to.region->context;
    forget(to);
    MessageHeader header{};
    header.kind = MessageKind::WRITE;
    header.flags = LAST;
    header.context = context;
    header.total = 16;
    say(Ring::REQUEST, header, 8);
    expect_broken_here();
    EXPECT_EQ(to.bytes[8], std::byte{});
}

// Whatever comes, nothing is touched that is not registered: the sanitizers watch.
TEST_F(DaplTransferHostile, AnythingAtAll) {
    std::mt19937_64 random(4711); // NOLINT(cert-msc51-cpp): the same each time
    const auto pick = [&](std::uint64_t end) { return random() % end; };
    for (int round = 0; round < 3000; ++round) {
        if (one.ep->state != EpState::CONNECTED)
            fresh(static_cast<std::uint32_t>(pick(2)));
        (void)one.send({from.at(0, pick(20000))}, 0, SUPPRESS);
        (void)one.read({from.at(0, 5000)}, to.remote(0, pick(5000)), 0, SUPPRESS);
        (void)one.receive({to.at(0, pick(20000))});
        MessageHeader header{};
        header.kind = static_cast<MessageKind>(pick(10));
        header.flags = static_cast<std::uint8_t>(pick(8));
        header.status = static_cast<std::uint16_t>(pick(13));
        header.context = pick(8) != 0 ? to.region->context : static_cast<std::uint32_t>(random());
        header.address = to.address() + (pick(4) != 0 ? pick(to.bytes.size()) : random());
        header.total = pick(4) != 0 ? pick(9000) : random();
        const std::array payload{std::span<const std::byte>(from.bytes)
                                     .first(pick(3) != 0
                                                ? std::min<std::uint64_t>(header.total, pick(4000))
                                                : pick(900))};
        (void)peer->send(pick(2) != 0 ? Ring::REQUEST : Ring::RESPONSE, header, payload);
        if (pick(4) == 0)
            peer->set_executed(pick(6));
        one.ep->connector->poll(false);
        rsmengine::Message message{};
        while (pick(16) != 0 && peer->receive(Ring::RESPONSE, message) == rsmengine::Arrived::MESSAGE)
            peer->consume(Ring::RESPONSE);
    }
}

} // namespace
