// SPDX-License-Identifier: MIT
// Copies of the provider `rsm`: pieces, last bytes, pages, what /proc/self/maps says.
#include "engine/memory/pages.h"
#include "engine/memory/sharing.h"
#include "memory/copy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <numeric>
#include <sstream>
#include <string>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

using namespace rsmengine;

Segment triplet(void *start, std::size_t length) {
    return {1, 0, reinterpret_cast<std::uintptr_t>(start), length};
}

std::vector<std::byte> numbers(std::size_t count) {
    std::vector<std::byte> bytes(count);
    for (std::size_t i = 0; i < count; ++i)
        bytes[i] = static_cast<std::byte>(i * 7 + 1);
    return bytes;
}

// Three pieces of 5, 1 and 10 bytes, one of them empty in between.
struct Pieces {
    std::array<std::byte, 5> first{};
    std::array<std::byte, 1> second{};
    std::array<std::byte, 10> third{};
    std::array<Segment, 4> all{triplet(first.data(), 5), triplet(nullptr, 0),
                                       triplet(second.data(), 1), triplet(third.data(), 10)};

    [[nodiscard]] std::vector<std::byte> together() const {
        std::vector<std::byte> bytes(first.begin(), first.end());
        bytes.insert(bytes.end(), second.begin(), second.end());
        bytes.insert(bytes.end(), third.begin(), third.end());
        return bytes;
    }
};

TEST(DaplRsmCopy, LastBytesAreOneStore) {
    EXPECT_EQ(last_bytes(64, 64), 8U);
    EXPECT_EQ(last_bytes(64, 7), 4U);
    EXPECT_EQ(last_bytes(64, 3), 2U);
    EXPECT_EQ(last_bytes(64, 1), 1U);
    EXPECT_EQ(last_bytes(60, 60), 4U);
    EXPECT_EQ(last_bytes(62, 62), 2U);
    EXPECT_EQ(last_bytes(61, 61), 1U);
}

TEST(DaplRsmCopy, EveryLengthAndAlignment) {
    const auto from = numbers(64);
    for (std::size_t start = 0; start < 16; ++start) {
        for (std::size_t length = 0; length <= 40; ++length) {
            alignas(8) std::array<std::byte, 64> to{};
            copy_last_bytes_last(to.data() + start, from.data() + 3, length);
            EXPECT_TRUE(std::equal(from.begin() + 3, from.begin() + 3 + static_cast<long>(length),
                                   to.begin() + start));
            const auto is_zero = [](std::byte byte) { return byte == std::byte{}; };
            EXPECT_TRUE(std::all_of(to.begin(), to.begin() + start, is_zero));
            EXPECT_TRUE(std::all_of(to.begin() + start + length, to.end(), is_zero));
        }
    }
}

// A reader that sees the last word of a round sees all of that round, or of later ones.
TEST(DaplRsmCopy, APollerSeesTheLastBytesLast) {
    constexpr std::size_t WORDS = 512;
    constexpr std::uint64_t ROUNDS = 20000;
    alignas(8) static std::array<std::uint64_t, WORDS> target;
    const auto load = [](std::size_t index) {
        return std::atomic_ref<std::uint64_t>(target[index]).load(std::memory_order_acquire);
    };
    std::jthread writer([&] {
        std::array<std::uint64_t, WORDS> source{};
        for (std::uint64_t round = 1; round <= ROUNDS; ++round) {
            source.fill(round);
            copy_last_bytes_last(reinterpret_cast<std::byte *>(target.data()),
                                 reinterpret_cast<const std::byte *>(source.data()),
                                 sizeof(source));
        }
    });
    for (std::uint64_t seen = 0; seen != ROUNDS; std::this_thread::yield()) {
        seen = load(WORDS - 1);
        for (std::size_t i = 0; i < WORDS; ++i)
            ASSERT_GE(load(i), seen) << i;
    }
}

TEST(DaplRsmCopy, PiecesFromEveryOffset) {
    for (std::size_t offset = 0; offset <= 16; ++offset) {
        for (std::size_t length = 0; offset + length <= 16; ++length) {
            Pieces pieces;
            const auto from = numbers(length);
            copy_to_pieces(pieces.all, offset, from);
            std::vector<std::byte> expected(16);
            std::ranges::copy(from, expected.begin() + static_cast<long>(offset));
            EXPECT_EQ(pieces.together(), expected) << offset << ' ' << length;
            std::vector<std::byte> back(length);
            copy_from_pieces(pieces.all, offset, back);
            EXPECT_EQ(back, from) << offset << ' ' << length;
        }
    }
}

TEST(DaplRsmCopy, PiecesThatEndTooEarlyEndTheCopy) {
    Pieces pieces;
    const auto from = numbers(32);
    copy_to_pieces(pieces.all, 10, from);
    EXPECT_TRUE(std::equal(pieces.third.begin() + 4, pieces.third.end(), from.begin()));
    std::vector<std::byte> back(32);
    copy_from_pieces(pieces.all, 10, back);
    EXPECT_TRUE(std::equal(back.begin(), back.begin() + 6, from.begin()));
    EXPECT_EQ(back[6], std::byte{});
    EXPECT_TRUE(PieceCursor(pieces.all, 16).next(1).empty());
    EXPECT_TRUE(PieceCursor(pieces.all, UINT64_MAX).next(1).empty());
    EXPECT_TRUE(PieceCursor({}, 0).next(1).empty());
}

TEST(DaplRsmCopy, CursorStopsAtPieces) {
    Pieces pieces;
    PieceCursor cursor(pieces.all, 2);
    EXPECT_EQ(cursor.next(2).data(), pieces.first.data() + 2);
    EXPECT_EQ(cursor.next(100).size(), 1U);
    EXPECT_EQ(cursor.next(100).data(), pieces.second.data());
    EXPECT_EQ(cursor.next(100).size(), 10U);
    EXPECT_TRUE(cursor.next(100).empty());
}

class DaplRsmPages : public testing::Test {
  protected:
    const std::uint64_t page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));

    void expect_around(std::uint64_t start, std::uint64_t length, PageRange expected) const {
        const auto pages = pages_around(start, length);
        ASSERT_TRUE(pages);
        EXPECT_EQ(pages->start, expected.start);
        EXPECT_EQ(pages->length, expected.length);
    }
    void expect_inside(std::uint64_t start, std::uint64_t length, PageRange expected) const {
        const auto pages = pages_inside(start, length);
        EXPECT_EQ(pages.length, expected.length);
        if (expected.length > 0) {
            EXPECT_EQ(pages.start, expected.start);
        }
    }
};

TEST_F(DaplRsmPages, Around) {
    expect_around(page, page, {page, page});
    expect_around(page + 1, page, {page, 2 * page});
    expect_around(2 * page - 1, 1, {page, page});
    expect_around(2 * page - 1, 2, {page, 2 * page});
    EXPECT_FALSE(pages_around(UINT64_MAX - page, 2 * page));
    EXPECT_FALSE(pages_around(UINT64_MAX - 1, 1));
    EXPECT_FALSE(pages_around(1, UINT64_MAX));
}

TEST_F(DaplRsmPages, Inside) {
    expect_inside(0, page, {0, page});
    expect_inside(1, page, {0, 0});
    expect_inside(1, 2 * page - 1, {page, page});
    expect_inside(page - 1, 2 * page, {page, page});
    expect_inside(page, 3 * page - 1, {page, 2 * page});
    expect_inside(page, page - 1, {0, 0});
    expect_inside(UINT64_MAX - 1, 1, {0, 0});
}

Sharing says(const std::string &maps, std::uint64_t start, std::uint64_t length) {
    std::istringstream stream(maps);
    return sharing_of(stream, start, length);
}

TEST(DaplRsmSharing, Maps) {
    const std::string maps = "00010000-00012000 rw-s 00000000 00:01 5   /dev/shm/a\n"
                             "00012000-00013000 r--s 00002000 00:01 5   /dev/shm/a\n"
                             "00013000-00014000 rw-p 00000000 00:00 0\n"
                             "00016000-00017000 rw-s 00000000 00:01 6   /SYSV00000000 (deleted)\n";
    EXPECT_EQ(says(maps, 0x10000, 0x3000), Sharing::SHARED);
    EXPECT_EQ(says(maps, 0x10ff0, 0x20), Sharing::SHARED);
    EXPECT_EQ(says(maps, 0x12fff, 1), Sharing::SHARED);
    EXPECT_EQ(says(maps, 0x12fff, 2), Sharing::PRIVATE);
    EXPECT_EQ(says(maps, 0x13000, 0x1000), Sharing::PRIVATE);
    EXPECT_EQ(says(maps, 0x13000, 0x1001), Sharing::ABSENT);
    EXPECT_EQ(says(maps, 0xf000, 0x2000), Sharing::ABSENT);
    EXPECT_EQ(says(maps, 0x15000, 1), Sharing::ABSENT);
    EXPECT_EQ(says(maps, 0x16000, 0x1000), Sharing::SHARED);
    EXPECT_EQ(says(maps, 0x16000, 0x1001), Sharing::ABSENT);
    EXPECT_EQ(says("", 0x16000, 1), Sharing::ABSENT);
    EXPECT_EQ(says("nonsense\n00016000-\n00016000-00017000\n", 0x16000, 1), Sharing::ABSENT);
}

TEST(DaplRsmSharing, ThisProcess) {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    const auto map = [&](int kind) {
        void *memory = ::mmap(nullptr, page, PROT_READ, kind | MAP_ANONYMOUS, -1, 0);
        EXPECT_NE(memory, MAP_FAILED);
        return memory;
    };
    const auto ask = [&](void *memory) {
        return sharing_of(reinterpret_cast<std::uintptr_t>(memory) + 1, page - 1);
    };
    void *shared = map(MAP_SHARED);
    void *own = map(MAP_PRIVATE);
    EXPECT_EQ(ask(shared), Sharing::SHARED);
    EXPECT_EQ(ask(own), Sharing::PRIVATE);
    ::munmap(shared, page);
    EXPECT_EQ(ask(shared), Sharing::ABSENT);
    ::munmap(own, page);
}

} // namespace
