// SPDX-License-Identifier: GPL-2.0
// Copies into and out of a peer's region.
#include "memory/memory.hpp"

#include <algorithm>
#include <csignal>
#include <sys/time.h>

using namespace rsmtest;

namespace {

class MemoryCopies : public MemoryTest {
protected:
    // Two pieces, cut at a third.
    static std::vector<rsmengine::Segment> in_two(const std::vector<std::byte> &bytes)
    {
        const std::size_t cut = bytes.size() / 3;
        return {piece(bytes.data(), cut), piece(bytes.data() + cut, bytes.size() - cut)};
    }
    // Writes these bytes of the region, looks at all of the memory, reads them back.
    void write_and_read(std::size_t from, std::size_t to)
    {
        const auto data = pattern(to - from, from + 3 * to);
        std::fill_n(pages.data(), pages.size(), std::byte{0x55});
        std::vector<std::byte> expected(pages.size(), std::byte{0x55});
        std::ranges::copy(data, expected.begin() + static_cast<long>(start + from));
        const std::uint64_t target = address(pages, start + from);
        ASSERT_EQ(remote->write(target, in_two(data), data.size()), Outcome::DONE);
        ASSERT_TRUE(std::equal(expected.begin(), expected.end(), pages.data()));
        const std::vector<std::byte> back(data.size());
        ASSERT_EQ(remote->read(target, in_two(back), back.size()), Outcome::DONE);
        ASSERT_EQ(back, data);
    }

    Pages pages{6};
    const std::size_t start = page - 3;
    std::unique_ptr<RemoteRegion> remote;
};

} // namespace

// Starts and ends at, before and behind those of the region and of the pages that are mapped.
TEST_F(MemoryCopies, every_edge)
{
    const std::size_t length = 3 * page + 10;
    remote = open(region(pages, start, length, remote_both));
    ASSERT_TRUE(remote);
    const std::size_t marks[] = {0,
                                 1,
                                 2,
                                 3,
                                 4,
                                 11,
                                 page + 2,
                                 page + 3,
                                 3 * page + 2,
                                 3 * page + 3,
                                 3 * page + 4,
                                 length - 1,
                                 length};
    for (const auto from : marks) {
        for (const auto to : marks) {
            if (from > to)
                continue;
            SCOPED_TRACE(testing::Message() << from << " to " << to);
            write_and_read(from, to);
        }
    }
}

TEST_F(MemoryCopies, outside_is_denied)
{
    remote = open(region(pages, 100, page + 1000, remote_both));
    ASSERT_TRUE(remote);
    const std::size_t end = page + 1100;
    const auto data = pattern(2 * page, 1);
    const auto pieces = in_two(data);
    EXPECT_EQ(remote->write(address(pages, 99), pieces, 1), Outcome::DENIED);
    EXPECT_EQ(remote->write(address(pages, 100), pieces, page + 1001), Outcome::DENIED);
    EXPECT_EQ(remote->write(address(pages, end), pieces, 1), Outcome::DENIED);
    EXPECT_EQ(remote->write(address(pages, end - 1), pieces, 2), Outcome::DENIED);
    EXPECT_EQ(remote->read(address(pages, end - 1), pieces, 2), Outcome::DENIED);
    EXPECT_EQ(remote->read(address(pages, 101), pieces, UINT64_MAX), Outcome::DENIED);
    EXPECT_EQ(remote->read(UINT64_MAX, pieces, 2), Outcome::DENIED);
    EXPECT_EQ(remote->write(address(pages, end - 1), pieces, 1), Outcome::DONE);
    EXPECT_EQ(pages.data()[end - 1], data[0]);
    EXPECT_EQ(pages.data()[end], std::byte{});
}

TEST_F(MemoryCopies, rights)
{
    const auto data = pattern(3 * page, 9);
    const std::vector<std::byte> back(data.size());
    const std::uint64_t target = address(pages, 5);
    const auto reader = open(region(pages, 5, 4 * page, remote_read));
    const auto writer = open(region(pages, 5, 4 * page, remote_write));
    ASSERT_TRUE(reader && writer);
    EXPECT_EQ(reader->write(target, in_two(data), data.size()), Outcome::DENIED);
    EXPECT_EQ(writer->read(target, in_two(back), back.size()), Outcome::DENIED);
    EXPECT_EQ(writer->write(target, in_two(data), data.size()), Outcome::DONE);
    EXPECT_EQ(reader->read(target, in_two(back), back.size()), Outcome::DONE);
    EXPECT_EQ(back, data);
}

// More than the kernel takes at a time. Memory that can only be written is not mapped.
TEST_F(MemoryCopies, many_pieces_by_the_kernel)
{
    const Pages large(200);
    remote = open(region(large, 0, large.size(), remote_write));
    ASSERT_TRUE(remote);
    const auto data = pattern(large.size() - 7, 3);
    std::vector<rsmengine::Segment> pieces;
    for (std::size_t done = 0; done < 300; done += 3)
        pieces.push_back(piece(data.data() + done, 3));
    pieces.push_back(piece(data.data() + 300, data.size() - 300));
    EXPECT_EQ(remote->write(address(large, 7), pieces, data.size()), Outcome::DONE);
    EXPECT_TRUE(std::equal(data.begin(), data.end(), large.data() + 7));
}

TEST_F(MemoryCopies, own_memory_is_gone)
{
    remote = open(region(pages, 1, 100, remote_both));
    ASSERT_TRUE(remote);
    Pages local(1);
    const std::vector pieces{piece(local.data(), 50)};
    local.release();
    EXPECT_EQ(remote->write(address(pages, 1), pieces, 50), Outcome::FAULT);
    EXPECT_EQ(remote->read(address(pages, 1), pieces, 50), Outcome::FAULT);
}

// Signals end the kernel's copies early; they go on all the same.
TEST_F(MemoryCopies, under_signals)
{
    const Pages large(1024);
    remote = open(region(large, 0, large.size(), remote_write));
    ASSERT_TRUE(remote);
    std::signal(SIGALRM, [](int) {});
    const suseconds_t interval = 1000 * scaled(1).count();
    const itimerval often{{0, interval}, {0, interval}};
    const itimerval never{};
    ASSERT_EQ(::setitimer(ITIMER_REAL, &often, nullptr), 0);
    for (std::size_t round = 0; round < 5; ++round) {
        const auto data = pattern(large.size(), round);
        EXPECT_EQ(remote->write(address(large), in_two(data), data.size()), Outcome::DONE);
        EXPECT_TRUE(std::equal(data.begin(), data.end(), large.data()));
    }
    ASSERT_EQ(::setitimer(ITIMER_REAL, &never, nullptr), 0);
    std::signal(SIGALRM, SIG_DFL);
}
