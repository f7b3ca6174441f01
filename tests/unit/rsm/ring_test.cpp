// SPDX-License-Identifier: MIT
// Rings of messages: with a writer and a reader that keep the rules, and with either of them
// hostile.
#include "wire/ring.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <gtest/gtest.h>
#include <random>
#include <thread>
#include <vector>

namespace {

using rsmengine::Arrived;
using rsmengine::CELL;
using rsmengine::Message;
using rsmengine::MessageHeader;
using rsmengine::MessageKind;
using rsmengine::MIN_RING;
using rsmengine::ring_limit;
using rsmengine::RingReader;
using rsmengine::RingWriter;
using Bytes = std::vector<std::byte>;

// Fixed: a failure can be repeated.
std::mt19937 numbers() {
    return std::mt19937(4711);
} // NOLINT(cert-msc32-c,cert-msc51-cpp)

MessageHeader header_of(MessageKind kind, std::uint64_t total = 0) {
    MessageHeader header{};
    header.kind = kind;
    header.total = total;
    return header;
}

Bytes pattern(std::size_t length, std::uint64_t seed) {
    Bytes bytes(length);
    for (std::size_t i = 0; i < length; ++i)
        bytes[i] = static_cast<std::byte>(seed * 31 + i);
    return bytes;
}

class Ring : public testing::Test {
  protected:
    // Between guards, so that a step outside is seen.
    static constexpr std::byte GUARD{0xA5};
    Ring() : area(MIN_RING * 3, GUARD) { std::ranges::fill(cells(), std::byte{0}); }
    ~Ring() override {
        const auto intact = [](std::span<const std::byte> guard) {
            return std::ranges::all_of(guard, [](std::byte byte) { return byte == GUARD; });
        };
        EXPECT_TRUE(intact(std::span(area).first(MIN_RING)));
        EXPECT_TRUE(intact(std::span(area).last(MIN_RING)));
    }
    std::span<std::byte> cells() { return std::span(area).subspan(MIN_RING, MIN_RING); }

    bool put(std::uint64_t total, std::span<const std::byte> payload) {
        const std::array pieces{payload};
        return writer.put(header_of(MessageKind::SEND, total), pieces);
    }
    // A header as a hostile writer leaves it.
    void forge(std::size_t offset, MessageHeader header) {
        header.present = 1;
        std::memcpy(cells().data() + offset, &header, sizeof(header));
    }
    void expect_message(std::uint64_t total, const Bytes &payload) {
        Message message{};
        ASSERT_EQ(reader.get(message), Arrived::MESSAGE);
        EXPECT_EQ(message.header.total, total);
        ASSERT_EQ(message.header.length, payload.size());
        EXPECT_TRUE(std::ranges::equal(message.payload, payload));
        reader.consume();
    }
    Arrived look() {
        Message message{};
        return reader.get(message);
    }

    std::vector<std::byte> area;
    std::atomic<std::uint64_t> consumed = 0;
    RingWriter writer{cells(), consumed};
    RingReader reader{cells(), consumed};
};

TEST_F(Ring, IsEmptyAtFirst) {
    EXPECT_EQ(look(), Arrived::NOTHING);
    reader.consume();
    EXPECT_EQ(consumed, 0U);
}

TEST_F(Ring, PiecesArriveBehindOneAnother) {
    const Bytes payload = pattern(100, 1);
    const std::array<std::span<const std::byte>, 4> pieces{
        std::span(payload).first(1), std::span<const std::byte>(),
        std::span(payload).subspan(1, 60), std::span(payload).subspan(61)};
    MessageHeader header = header_of(MessageKind::WRITE, 77);
    header.flags = rsmengine::message_flags::LAST;
    header.status = 3;
    header.context = 0x12345678;
    header.address = 0x123456789ABCDEF0;
    ASSERT_TRUE(writer.put(header, pieces));
    Message message{};
    ASSERT_EQ(reader.get(message), Arrived::MESSAGE);
    EXPECT_EQ(message.header.kind, MessageKind::WRITE);
    EXPECT_EQ(message.header.flags, header.flags);
    EXPECT_EQ(message.header.status, 3);
    EXPECT_EQ(message.header.context, header.context);
    EXPECT_EQ(message.header.address, header.address);
    expect_message(77, payload);
    EXPECT_EQ(look(), Arrived::NOTHING);
}

TEST_F(Ring, AMessageThatFailsTheCheckIsNotSeen) {
    const Bytes payload = pattern(100, 1);
    const std::array pieces{std::span<const std::byte>(payload)};
    int asked = 0;
    const auto refuse = [&asked] { return ++asked == 0; };
    EXPECT_FALSE(writer.put(header_of(MessageKind::SEND, 1), pieces, refuse));
    EXPECT_EQ(asked, 1);
    EXPECT_EQ(look(), Arrived::NOTHING);
    ASSERT_TRUE(put(2, payload));
    expect_message(2, payload);
}

TEST_F(Ring, TheSameMessageUntilItIsConsumed) {
    ASSERT_TRUE(put(1, pattern(8, 1)));
    ASSERT_TRUE(put(2, pattern(8, 2)));
    Message message{};
    ASSERT_EQ(reader.get(message), Arrived::MESSAGE);
    forge(0, header_of(MessageKind::READ, 99)); // what was read once is not read again
    expect_message(1, pattern(8, 1));
    expect_message(2, pattern(8, 2));
}

TEST_F(Ring, ALargerPayloadThanTheLimitIsRefused) {
    EXPECT_FALSE(put(1, pattern(writer.limit() + 1, 1)));
    EXPECT_TRUE(put(1, pattern(writer.limit(), 1)));
    expect_message(1, pattern(writer.limit(), 1));
}

TEST_F(Ring, FourOfTheLargestFitNearly) {
    // The last would leave no cell that says where the end is.
    const Bytes largest = pattern(writer.limit(), 1);
    for (std::uint64_t i = 0; i < 3; ++i)
        ASSERT_TRUE(put(i, largest));
    EXPECT_FALSE(put(3, largest));
    EXPECT_TRUE(put(3, std::span(largest).first(largest.size() - CELL)));
    EXPECT_FALSE(put(4, {}));
    expect_message(0, largest);
    EXPECT_TRUE(put(4, {}));
}

TEST_F(Ring, TheLargestFitsWhereverTheRingStands) {
    for (std::uint64_t i = 0; i < 3 * MIN_RING / CELL; ++i) {
        ASSERT_TRUE(put(i, pattern(writer.limit(), i)));
        expect_message(i, pattern(writer.limit(), i));
        ASSERT_TRUE(put(i, {})); // one cell further
        expect_message(i, {});
    }
}

TEST_F(Ring, OldPayloadIsNoMessage) {
    // Whatever a payload holds looks like a message that is there.
    Bytes lies(writer.limit());
    for (std::size_t i = 0; i < lies.size(); ++i)
        lies[i] = std::byte{1};
    auto random = numbers();
    for (std::uint64_t i = 0; i < 10000; ++i) {
        const std::size_t length = random() % (lies.size() + 1);
        ASSERT_TRUE(put(i, std::span(lies).first(length)));
        expect_message(i, Bytes(lies.begin(), lies.begin() + static_cast<std::ptrdiff_t>(length)));
        ASSERT_EQ(look(), Arrived::NOTHING);
    }
}

TEST_F(Ring, TwoThreadsKeepOrderAndContents) {
    constexpr std::uint64_t count = 200000;
    std::thread other([&] {
        auto random = numbers();
        for (std::uint64_t i = 0; i < count; ++i) {
            const Bytes payload = pattern(random() % 200, i);
            while (!put(i, payload))
                std::this_thread::yield();
        }
    });
    auto random = numbers();
    for (std::uint64_t i = 0; i < count; ++i) {
        while (look() == Arrived::NOTHING)
            std::this_thread::yield();
        expect_message(i, pattern(random() % 200, i));
    }
    other.join();
    EXPECT_EQ(look(), Arrived::NOTHING);
}

class HostileWriter : public Ring {};

TEST_F(HostileWriter, CanNotPointBeyondTheMessage) {
    MessageHeader header = header_of(MessageKind::SEND);
    for (const auto length : {std::size_t{UINT32_MAX}, MIN_RING, ring_limit(MIN_RING) + 1}) {
        header.length = static_cast<std::uint32_t>(length);
        forge(0, header);
        EXPECT_EQ(look(), Arrived::NONSENSE) << length;
    }
    header.length = static_cast<std::uint32_t>(ring_limit(MIN_RING));
    forge(0, header);
    EXPECT_EQ(look(), Arrived::MESSAGE);
}

TEST_F(HostileWriter, CanNotPointBeyondTheEnd) {
    for (std::uint64_t i = 0; i < MIN_RING / CELL - 1; ++i) {
        ASSERT_TRUE(put(i, {}));
        expect_message(i, {});
    }
    MessageHeader header = header_of(MessageKind::SEND);
    header.length = CELL - sizeof(header) + 1;
    forge(MIN_RING - CELL, header);
    EXPECT_EQ(look(), Arrived::NONSENSE);
}

TEST_F(HostileWriter, CanNotLeadInCircles) {
    forge(0, header_of(MessageKind::PAD));
    EXPECT_EQ(look(), Arrived::NONSENSE);
}

TEST_F(HostileWriter, HasToPutSomethingBehindAPad) {
    ASSERT_TRUE(put(1, {}));
    expect_message(1, {});
    std::ranges::fill(cells().first(CELL), std::byte{0});
    forge(CELL, header_of(MessageKind::PAD));
    EXPECT_EQ(look(), Arrived::NONSENSE);
}

TEST_F(HostileWriter, NonsenseStaysNonsense) {
    ASSERT_TRUE(put(1, {}));
    expect_message(1, {});
    std::ranges::fill(cells().first(CELL), std::byte{0});
    forge(CELL, header_of(MessageKind::PAD));
    for (int again = 0; again < 2; ++again)
        EXPECT_EQ(look(), Arrived::NONSENSE);
    MessageHeader header = header_of(MessageKind::SEND);
    header.length = UINT32_MAX;
    forge(0, header);
    for (int again = 0; again < 2; ++again)
        EXPECT_EQ(look(), Arrived::NONSENSE);
}

TEST_F(HostileWriter, AMessageIsNotOverItsPad) {
    ASSERT_TRUE(put(1, {}));
    expect_message(1, {});
    forge(CELL, header_of(MessageKind::PAD));
    MessageHeader header = header_of(MessageKind::SEND);
    header.length = CELL - sizeof(header) + 1;
    forge(0, header);
    EXPECT_EQ(look(), Arrived::NONSENSE);
    header.length = CELL - sizeof(header);
    forge(0, header);
    EXPECT_EQ(look(), Arrived::MESSAGE);
    reader.consume();
    EXPECT_EQ(consumed, MIN_RING + CELL);
}

TEST_F(HostileWriter, TwoPadsAreNonsense) {
    ASSERT_TRUE(put(1, {}));
    expect_message(1, {});
    forge(0, header_of(MessageKind::PAD));
    forge(CELL, header_of(MessageKind::PAD));
    EXPECT_EQ(look(), Arrived::NONSENSE);
}

// Scribbles all over the ring while the reader reads.
TEST_F(HostileWriter, OnlyGetsMessagesInsideTheRing) {
    std::atomic<bool> over = false;
    std::thread scribbler([&] {
        auto random = numbers();
        auto *words = reinterpret_cast<std::uint32_t *>(cells().data());
        while (!over) {
            const std::size_t place = random() % (MIN_RING / sizeof(*words));
            // Small numbers, so that many headers are nearly good.
            __atomic_store_n(words + place, random() % 1100, __ATOMIC_RELAXED);
        }
    });
    std::array<std::uint64_t, 3> seen{};
    const auto has_seen = [&](Arrived what) { return seen[static_cast<std::size_t>(what)] > 0; };
    // The scribbler may have to wait for the processor.
    for (int i = 0; i < 500000 || !has_seen(Arrived::MESSAGE) || !has_seen(Arrived::NONSENSE);
         ++i) {
        Message message{};
        const Arrived arrived = reader.get(message);
        ++seen[static_cast<std::size_t>(arrived)];
        if (arrived != Arrived::MESSAGE) {
            std::this_thread::yield();
            continue;
        }
        ASSERT_EQ(message.header.length, message.payload.size());
        ASSERT_LE(message.payload.size(), ring_limit(MIN_RING));
        ASSERT_GE(message.payload.data(), cells().data());
        ASSERT_LE(message.payload.data() + message.payload.size(), cells().data() + MIN_RING);
        reader.consume();
    }
    over = true;
    scribbler.join();
}

class HostileReader : public Ring {};

TEST_F(HostileReader, CanNotHaveTakenMoreThanThereWas) {
    for (std::uint64_t i = 0; i < MIN_RING / CELL - 1; ++i)
        ASSERT_TRUE(put(i, {}));
    for (const std::uint64_t said : {MIN_RING, MIN_RING * 2, ~std::size_t{0}, ~MIN_RING}) {
        consumed = said;
        EXPECT_FALSE(put(0, {})) << said;
    }
    consumed = MIN_RING - CELL;
    EXPECT_TRUE(put(0, {}));
}

TEST_F(HostileReader, CanNotTakeBackWhatItHasTaken) {
    for (std::uint64_t i = 0; i < MIN_RING / CELL - 1; ++i)
        ASSERT_TRUE(put(i, {}));
    consumed = 2 * CELL;
    ASSERT_TRUE(put(0, {}));
    consumed = 0;
    EXPECT_TRUE(put(0, {}));
    EXPECT_FALSE(put(0, {}));
}

TEST_F(HostileReader, KeepsTheWriterInsideTheRing) {
    std::atomic<bool> over = false;
    std::thread scribbler([&] {
        auto random = numbers();
        while (!over)
            consumed = random() % 2 != 0 ? random() % 100 * CELL : random();
    });
    const Bytes payload = pattern(writer.limit(), 1);
    auto random = numbers();
    for (std::uint64_t i = 0; i < 500000; ++i)
        (void)put(i, std::span(payload).first(random() % (payload.size() + 1)));
    over = true;
    scribbler.join();
}

} // namespace
