// SPDX-License-Identifier: GPL-2.0
// Messages that no library sends: the connection breaks, and nothing else happens.
#include "dat/support/attack.hpp"

#include <array>
#include <cstring>
#include <limits>

using namespace rsmtest;
using namespace rsmtest::dat;
using rsmengine::MessageHeader;
using rsmengine::MessageKind;

namespace {

using Ring = RawPeer::Ring;

constexpr std::uint8_t first = rsmengine::message_flags::FIRST;
constexpr std::uint8_t last = rsmengine::message_flags::LAST;
constexpr std::uint64_t huge = std::numeric_limits<std::uint64_t>::max();

MessageHeader header(MessageKind kind, std::uint8_t flags, std::uint64_t total)
{
    MessageHeader result{};
    result.kind = kind;
    result.flags = flags;
    result.total = total;
    return result;
}

struct Forged {
    Ring ring;
    MessageHeader header;
    std::size_t payload;
};

// There is a receive of 64 bytes.
const std::vector<Forged> forged = {
    {Ring::REQUEST, header(MessageKind::SEND, first | last, huge), 8},
    {Ring::REQUEST, header(MessageKind::SEND, first | last, 1U << 31), 8},
    {Ring::REQUEST, header(MessageKind::SEND, first | last, 7), 8},
    {Ring::REQUEST, header(MessageKind::SEND, first | last, 9), 8},
    {Ring::REQUEST, header(MessageKind::SEND, first | last, 65), 65},
    {Ring::REQUEST, header(MessageKind::SEND, first, 8), 0},
    {Ring::REQUEST, header(MessageKind::SEND, first, 8), 8},
    {Ring::REQUEST, header(MessageKind::SEND, first, 8), 9},
    {Ring::REQUEST, header(MessageKind::SEND, last, 8), 8},
    {Ring::REQUEST, header(MessageKind::SEND, 0, 8), 4},
    {Ring::REQUEST, header(MessageKind::WRITE, last, 8), 8},
    {Ring::REQUEST, header(MessageKind::WRITE, first | last, huge), 8},
    {Ring::REQUEST, header(MessageKind::WRITE, first | last, 8), 8}, // no context
    {Ring::REQUEST, header(MessageKind::READ, 0, 0), 0},
    {Ring::REQUEST, header(MessageKind::READ, 0, huge), 0},
    {Ring::REQUEST, header(MessageKind::READ, 0, 8), 8},
    {Ring::REQUEST, header(MessageKind::READ, 0, 8), 0}, // no context
    {Ring::REQUEST, header(MessageKind::READ_DATA, 0, 8), 8},
    {Ring::REQUEST, header(MessageKind::ASK, 0, 0), 0},
    {Ring::REQUEST, header(MessageKind::GRANT, 0, 0), sizeof(rsmengine::Grant)},
    {Ring::REQUEST, header(MessageKind::FAULT, 0, 0), 0},
    {Ring::REQUEST, header(MessageKind::DONE, 0, 0), 0},
    {Ring::REQUEST, header(MessageKind::PAD, 0, 0), 0},
    {Ring::REQUEST, header(static_cast<MessageKind>(9), 0, 0), 0},
    {Ring::REQUEST, header(static_cast<MessageKind>(255), 255, huge), 100},
    {Ring::RESPONSE, header(MessageKind::SEND, first | last, 8), 8},
    {Ring::RESPONSE, header(MessageKind::WRITE, first | last, 8), 8},
    {Ring::RESPONSE, header(MessageKind::READ, 0, 8), 0},
    {Ring::RESPONSE, header(MessageKind::READ_DATA, 0, 8), 8},
    {Ring::RESPONSE, header(MessageKind::GRANT, 0, 0), sizeof(rsmengine::Grant)},
    {Ring::RESPONSE, header(MessageKind::GRANT, 0, 0), 0},
    {Ring::RESPONSE, header(MessageKind::FAULT, 0, 0), 0},
    {Ring::RESPONSE, header(MessageKind::FAULT, 0, huge), 0},
    {Ring::RESPONSE, header(MessageKind::DONE, 0, 1), 0},
    {Ring::RESPONSE, header(MessageKind::DONE, 0, huge), 0},
    {Ring::RESPONSE, header(MessageKind::PAD, 0, 0), 0},
    {Ring::RESPONSE, header(static_cast<MessageKind>(99), 0, 0), 0},
};

// The first message of a ring, as it lies there: the length is the attacker's, too.
void place(RawPeer &peer, std::size_t ring_offset, std::uint32_t length)
{
    MessageHeader false_length = header(MessageKind::SEND, first | last, 8);
    false_length.length = length;
    false_length.present = 1;
    std::memcpy(peer.segment().data() + rsmengine::RINGS + ring_offset, &false_length,
                sizeof(false_length));
    peer.ring_bell();
}

class RsmAttackRequests : public RsmAttack {
protected:
    // The attacker is connected so many times, and each time the connection breaks; the victim's
    // memory stays as it is.
    void expect_ends(std::size_t count, bool with_send = false)
    {
        fill(memory);
        const Registered region(side().adapter, side().pz, memory.data() + offset, length);
        for (std::size_t i = 0; i < count; i++) {
            SCOPED_TRACE(i);
            admit();
            DAT_LMR_TRIPLET piece = region.piece(0, 64);
            EXPECT_OK(dat_ep_post_recv(side().ep, 1, &piece, cookie(i),
                                       DAT_COMPLETION_DEFAULT_FLAG));
            if (with_send) {
                EXPECT_OK(side().send(0, 8, i));
            }
            attacker().send(region.rmr_context);
            attacker().send(reinterpret_cast<std::uintptr_t>(region.start));
            if (with_send)
                expect_completion(side().requests, i, DAT_DTO_ERR_BAD_RESPONSE);
            expect_event(side().receives, DAT_DTO_COMPLETION_EVENT);
            expect_end();
            EXPECT_TRUE(untouched_but(memory, offset, length));
            ASSERT_FALSE(HasFailure());
        }
        attacker().expect_success();
        expect_service();
    }

    const Pages memory{3};
    const std::size_t offset = page_size() + 100;
    const std::size_t length = 1000;
};

} // namespace

TEST_F(RsmAttackRequests, that_make_no_sense)
{
    start([](Link &link, std::uint64_t qualifier) {
        const std::vector<std::byte> payload(4096, std::byte{0xbb});
        for (const Forged &message : forged) {
            RawPeer peer(qualifier);
            ASSERT_TRUE(peer.connected());
            link.receive();
            link.receive();
            peer.send(message.ring, message.header, std::span(payload).first(message.payload));
            EXPECT_TRUE(peer.ended()) << &message - forged.data();
        }
    });
    expect_ends(forged.size());
}

TEST_F(RsmAttackRequests, longer_than_the_ring)
{
    static constexpr std::array<std::uint32_t, 5> lengths = {0xffffffff, 0x80000000, 65536, 16384,
                                                             16384 - 31};
    start([](Link &link, std::uint64_t qualifier) {
        for (const std::uint32_t length : lengths) {
            RawPeer peer(qualifier);
            ASSERT_TRUE(peer.connected());
            link.receive();
            link.receive();
            place(peer, 0, length);
            EXPECT_TRUE(peer.ended()) << length;
        }
    });
    expect_ends(lengths.size());
}

namespace {

constexpr std::uint64_t most = 2000; // bytes of one message here

struct Target {
    std::int64_t from; // the region's start
    std::uint64_t size;
    std::uint32_t context; // exclusive or
};
// The region has 1000 bytes.
const std::vector<Target> targets = {
    {-1, 1, 0},      {-1, 2, 0},     {1000, 1, 0},  {999, 2, 0},         {0, 1001, 0},
    {-100, 1200, 0}, {-4196, 16, 0}, {4096, 16, 0}, {1, huge - 5, 0},    {500, 1ULL << 40, 0},
    {0, 16, 1},      {0, 16, 0x100}, {0, 16, ~0U},  {INT64_MIN, 16, 0}, {INT64_MIN + 500, huge, 0},
};

MessageHeader aimed(MessageKind kind, const Target &target, std::uint32_t context,
                    std::uint64_t start)
{
    MessageHeader result = header(kind, first | (target.size <= most ? last : 0), target.size);
    result.context = context ^ target.context;
    result.address = start + static_cast<std::uint64_t>(target.from);
    return result;
}

} // namespace

TEST_F(RsmAttackRequests, writes_outside)
{
    start([](Link &link, std::uint64_t qualifier) {
        const std::vector<std::byte> payload(most, std::byte{0xbb});
        for (const Target &target : targets) {
            RawPeer peer(qualifier);
            ASSERT_TRUE(peer.connected());
            const auto context = static_cast<std::uint32_t>(link.receive());
            const std::uint64_t start = link.receive();
            peer.send(Ring::REQUEST, aimed(MessageKind::WRITE, target, context, start),
                      std::span(payload).first(std::min(target.size, most)));
            EXPECT_TRUE(peer.ended()) << &target - targets.data();
        }
    });
    expect_ends(targets.size());
}

TEST_F(RsmAttackRequests, reads_outside)
{
    start([](Link &link, std::uint64_t qualifier) {
        for (const Target &target : targets) {
            RawPeer peer(qualifier);
            ASSERT_TRUE(peer.connected());
            const auto context = static_cast<std::uint32_t>(link.receive());
            const std::uint64_t start = link.receive();
            peer.send(Ring::REQUEST, aimed(MessageKind::READ, target, context, start));
            EXPECT_TRUE(peer.ended()) << &target - targets.data();
            while (const auto heard = peer.receive(Ring::RESPONSE))
                EXPECT_NE(heard->header.kind, MessageKind::READ_DATA) << &target - targets.data();
        }
    });
    expect_ends(targets.size());
}

// The region goes between two pieces of one write: the second does not arrive.
TEST_F(RsmAttackRequests, write_that_outlives_its_region)
{
    start([](Link &link, std::uint64_t qualifier) {
        RawPeer peer(qualifier);
        ASSERT_TRUE(peer.connected());
        const std::vector<std::byte> payload(500, std::byte{0xbb});
        MessageHeader piece = header(MessageKind::WRITE, first, 1000);
        piece.context = static_cast<std::uint32_t>(link.receive());
        piece.address = link.receive();
        peer.send(Ring::REQUEST, piece, payload);
        link.send();
        link.receive();
        piece.flags = last;
        peer.send(Ring::REQUEST, piece, payload);
        EXPECT_TRUE(peer.ended());
    });
    admit();
    fill(memory);
    {
        const Registered region(side().adapter, side().pz, memory.data() + offset, length);
        attacker().send(region.rmr_context);
        attacker().send(reinterpret_cast<std::uintptr_t>(region.start));
        attacker().receive();
        EXPECT_TRUE(eventually([&] { return memory.data()[offset + 499] == std::byte{0xbb}; }));
    }
    attacker().send();
    expect_end();
    attacker().expect_success();
    EXPECT_TRUE(untouched_but(memory, offset, 500));
}

// Words that count: of what has been carried out, and taken from rings.
TEST_F(RsmAttackRequests, counters_that_run_ahead)
{
    start([](Link &link, std::uint64_t qualifier) {
        for (const std::uint64_t value : {std::uint64_t{2}, huge, huge / 2 + 1}) {
            RawPeer peer(qualifier);
            ASSERT_TRUE(peer.connected());
            link.receive();
            link.receive();
            rsmengine::Words &words = peer.own_words();
            words.consumed[0].store(value);
            words.consumed[1].store(value);
            words.executed.store(value);
            peer.ring_bell();
            EXPECT_TRUE(peer.ended()) << value;
        }
    });
    expect_ends(3, true);
}

// States that a peer does not write.
TEST_F(RsmAttackRequests, states_that_are_none)
{
    start([](Link &link, std::uint64_t qualifier) {
        for (const std::uint32_t state : {0U, 1U, 2U, 3U, 4U, 7U, 8U, 0x80000000U, 0xffffffffU}) {
            RawPeer peer(qualifier);
            ASSERT_TRUE(peer.connected());
            link.receive();
            link.receive();
            std::memcpy(peer.segment().data() + offsetof(rsmengine::Handshake, state), &state,
                        sizeof(state));
            peer.ring_bell();
            EXPECT_TRUE(peer.ended()) << state;
        }
    });
    expect_ends(9);
}
