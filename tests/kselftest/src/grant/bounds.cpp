// SPDX-License-Identifier: GPL-2.0
// Not a byte more than was granted, by whatever way.
#include "grant/grant.hpp"

#include <algorithm>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

using namespace rsmtest;
using raw::status;
using raw::success;
using raw::Ticket;

namespace {

struct Range {
    std::size_t offset, length;
    std::size_t end() const { return offset + length; }
};

// Grants with every kind of edge.
class GrantBounds : public GrantTest {
protected:
    std::vector<Range> ranges() const
    {
        return {{0, size},        {0, 1},        {1, 1},           {page - 1, 1},
                {page - 1, 2},    {page, page},  {page, 1},        {page + 1, 2 * page - 1},
                {7, 3 * page},    {0, page - 1}, {page, 2 * page}, {page - 1, 2 * page + 2},
                {size - 1, 1},    {3, size - 6}, {size - page, page}, {page + 8, page},
                {page - 8, page}, {0, page + 1}};
    }
    // Whether the memory outside the range is as it was.
    bool untouched_outside(const Range &range) const
    {
        for (std::size_t at = 0; at < size; at++) {
            const bool inside = at >= range.offset && at < range.end();
            if (!inside && memory.data()[at] != pattern(at))
                return false;
        }
        return true;
    }
};

} // namespace

TEST_F(GrantBounds, transfers)
{
    for (const Range &range : ranges()) {
        SCOPED_TRACE(testing::Message() << range.offset << " +" << range.length);
        fill(memory);
        const Fd handle = redeemed(grant(range.offset, range.length));
        const int fd = handle.get();
        const std::uint64_t from = range.offset, length = range.length, end = range.end();
        for (const unsigned long command : {RSM_IOC_PUTV, RSM_IOC_GETV}) {
            std::memset(local.data(), 0xee, local.size());
            const auto is = [&](std::uint64_t at, std::uint64_t bytes, std::uint32_t result) {
                EXPECT_EQ(copy(fd, command, local.data(), at, bytes), status(result))
                    << at << " +" << bytes;
            };
            if (from > 0) {
                is(from - 1, 1, RSMERR_BAD_OFFSET);
                is(from - 1, length + 1, RSMERR_BAD_OFFSET);
                is(0, size, RSMERR_BAD_OFFSET);
                is(0, 0, RSMERR_BAD_OFFSET);
                is(from, ~0ull - from + 1, RSMERR_BAD_LENGTH);
            }
            is(from, length + 1, RSMERR_BAD_LENGTH);
            is(from, ~0ull, RSMERR_BAD_LENGTH);
            is(end, 1, RSMERR_BAD_LENGTH);
            is(end, 0, RSM_SUCCESS);
            is(end + 1, 0, RSMERR_BAD_OFFSET);
            is(~0ull, 1, RSMERR_BAD_OFFSET);
            ASSERT_TRUE(untouched_outside({from, 0})) << "a refused transfer did something";
        }
        ASSERT_EQ(copy(fd, RSM_IOC_GETV, local.data(), from, length), success);
        EXPECT_EQ(std::memcmp(local.data(), memory.data() + from, length), 0);
        EXPECT_EQ(local.data()[length], std::byte{0xee});
        std::memset(local.data(), 0xdd, local.size());
        ASSERT_EQ(copy(fd, RSM_IOC_PUTV, local.data(), from, length), success);
        EXPECT_EQ(std::memcmp(local.data(), memory.data() + from, length), 0);
        EXPECT_TRUE(untouched_outside(range));
    }
}

TEST_F(GrantBounds, one_bad_entry_spoils_all)
{
    const Fd handle = redeemed(grant(10, 20));
    const rsm_transfer_entry entries[] = {raw::entry(local.data(), 10, 20),
                                          raw::entry(local.data(), 29, 2)};
    std::uint32_t residual = 0;
    EXPECT_EQ(raw::transfer(handle.get(), RSM_IOC_PUTV, entries, RSM_IMPLICIT_SIGPOST, &residual),
              status(RSMERR_BAD_LENGTH));
    EXPECT_EQ(residual, 2u);
    EXPECT_TRUE(untouched_outside({0, 0}));
    EXPECT_EQ(raw::wait(exported.get()), status(RSMERR_TIMEOUT));
}

TEST_F(GrantBounds, mappings)
{
    for (const Range &range : ranges()) {
        SCOPED_TRACE(testing::Message() << range.offset << " +" << range.length);
        const Fd handle = redeemed(grant(range.offset, range.length));
        for (std::size_t first = 0; first <= page_count; first++) {
            for (std::size_t count = 1; count <= page_count + 1; count++) {
                const bool inside =
                    first * page >= range.offset && (first + count) * page <= range.end();
                EXPECT_EQ(refused(handle.get(), count * page, PROT_READ, first * page),
                          inside ? 0 : ENXIO)
                    << first << " +" << count;
            }
        }
        // PROT_NONE would be a way in, too, if it were allowed.
        if (range.offset > 0) {
            EXPECT_EQ(refused(handle.get(), page, PROT_NONE, 0), ENXIO);
        }
        EXPECT_EQ(refused(handle.get(), page, PROT_READ, std::size_t{1} << 42), ENXIO);
    }
}

TEST_F(GrantBounds, a_mapping_shows_its_offset_in_the_segment)
{
    const Fd handle = redeemed(grant(page - 4, 2 * page + 8));
    void *base = raw::map(handle.get(), 2 * page, PROT_READ | PROT_WRITE, static_cast<off_t>(page));
    ASSERT_NE(base, nullptr);
    EXPECT_EQ(std::memcmp(base, memory.data() + page, 2 * page), 0);
    word(base, 2 * page - 8) = 42;
    EXPECT_EQ(memory.at(3 * page - 8), 42u);
    munmap(base, 2 * page);
}

TEST_F(GrantBounds, mappings_do_not_move_over_the_edge)
{
    const Fd handle = redeemed(grant(page, page));
    const int both = PROT_READ | PROT_WRITE;
    void *base = raw::map(handle.get(), page, both, static_cast<off_t>(page));
    ASSERT_NE(base, nullptr);
    EXPECT_EQ(mremap(base, page, 2 * page, MREMAP_MAYMOVE), MAP_FAILED);
    EXPECT_EQ(mremap(base, page, 2 * page, 0), MAP_FAILED);
    EXPECT_EQ(mremap(base, 0, 2 * page, MREMAP_MAYMOVE), MAP_FAILED);
    void *copy_of_it = mremap(base, 0, page, MREMAP_MAYMOVE);
    if (copy_of_it != MAP_FAILED) {
        EXPECT_EQ(word(copy_of_it), memory.at(page));
        munmap(copy_of_it, page);
    }
    void *moved = mremap(base, page, page, MREMAP_MAYMOVE | MREMAP_FIXED, local.data() + page);
    ASSERT_EQ(moved, local.data() + page);
    EXPECT_EQ(word(moved), memory.at(page));
    EXPECT_EQ(word(moved, page - 8), memory.at(2 * page - 8));
}

// The old way to show another part of a file in place: it maps anew.
TEST_F(GrantBounds, remap_file_pages)
{
    const Fd handle = redeemed(grant(page, page));
    for (const std::size_t other : {0, 2, 3}) {
        void *base = raw::map(handle.get(), page, PROT_READ, static_cast<off_t>(page));
        ASSERT_NE(base, nullptr);
        EXPECT_NE(::remap_file_pages(base, page, 0, other, 0), 0) << other;
        munmap(base, page);
    }
}

TEST_F(GrantBounds, debuggers_stay_inside)
{
    const Fd handle = redeemed(grant(page - 100, 2 * page));
    void *base = raw::map(handle.get(), page, PROT_READ | PROT_WRITE, static_cast<off_t>(page));
    ASSERT_NE(base, nullptr);
    Pages hole(2, PROT_NONE);
    void *moved = mremap(base, page, page, MREMAP_MAYMOVE | MREMAP_FIXED, hole.data());
    ASSERT_EQ(moved, hole.data());
    ASSERT_EQ(munmap(hole.data() + page, page), 0);
    const Fd mem(open("/proc/self/mem", O_RDWR | O_CLOEXEC));
    ASSERT_TRUE(mem.valid());
    const auto at = static_cast<off_t>(reinterpret_cast<std::uintptr_t>(moved));
    std::fill_n(local.data(), 3 * page, std::byte{0xee});
    EXPECT_EQ(pread(mem.get(), local.data(), 3 * page, at), static_cast<ssize_t>(page));
    EXPECT_EQ(std::memcmp(local.data(), memory.data() + page, page), 0);
    EXPECT_EQ(local.data()[page], std::byte{0xee});
    EXPECT_EQ(pwrite(mem.get(), local.data() + page, 2 * page, at), static_cast<ssize_t>(page));
    EXPECT_EQ(memory.data()[2 * page - 1], std::byte{0xee});
    EXPECT_TRUE(untouched_outside({page, page}));
}

TEST_F(GrantBounds, rights)
{
    const int both = PROT_READ | PROT_WRITE;
    for (const std::uint32_t rights : {0400u, 0200u, 0600u}) {
        SCOPED_TRACE(rights);
        const Fd handle = redeemed(grant_all(rights));
        const bool read = rights & 0400;
        const bool write = rights & 0200;
        const auto denied = status(RSMERR_PERM_DENIED);
        EXPECT_EQ(copy(handle.get(), RSM_IOC_GETV, local.data(), 0, 8), read ? success : denied);
        EXPECT_EQ(copy(handle.get(), RSM_IOC_PUTV, local.data(), 0, 8), write ? success : denied);
        EXPECT_EQ(refused(handle.get(), page, PROT_READ, 0), read ? 0 : EACCES);
        // A mapping that can be written can be read.
        EXPECT_EQ(refused(handle.get(), page, PROT_WRITE, 0), read && write ? 0 : EACCES);
        EXPECT_EQ(refused(handle.get(), page, both, 0), read && write ? 0 : EACCES);
        EXPECT_EQ(refused(handle.get(), page, PROT_READ | PROT_EXEC, 0), EACCES);
        void *base = raw::map(handle.get(), page, PROT_NONE);
        ASSERT_NE(base, nullptr);
        EXPECT_EQ(mprotect(base, page, PROT_READ), read ? 0 : -1);
        EXPECT_EQ(mprotect(base, page, PROT_WRITE), read && write ? 0 : -1);
        EXPECT_EQ(mprotect(base, page, both), read && write ? 0 : -1);
        EXPECT_EQ(mprotect(base, page, PROT_EXEC), -1);
        const Fd mem(open("/proc/self/mem", O_RDONLY | O_CLOEXEC));
        const auto at = static_cast<off_t>(reinterpret_cast<std::uintptr_t>(base));
        EXPECT_EQ(pread(mem.get(), local.data(), 8, at), read ? 8 : -1);
        munmap(base, page);
        EXPECT_EQ(raw::map(handle.get(), page, PROT_READ, 0, MAP_PRIVATE), nullptr);
    }
}

TEST_F(GrantBounds, debuggers_do_not_write_what_is_granted_to_be_read)
{
    const Fd handle = redeemed(grant_all(RSM_PERM_READ));
    void *base = raw::map(handle.get(), page, PROT_READ);
    ASSERT_NE(base, nullptr);
    const Fd mem(open("/proc/self/mem", O_RDWR | O_CLOEXEC));
    const auto at = static_cast<off_t>(reinterpret_cast<std::uintptr_t>(base));
    EXPECT_LT(pwrite(mem.get(), local.data(), 8, at), 8);
    EXPECT_TRUE(untouched_outside({0, 0}));
    munmap(base, page);
}

TEST_F(GrantBounds, rebind_keeps_grants_and_their_bounds)
{
    const Fd handle = redeemed(grant(page + 3, 2 * page));
    void *base = raw::map(handle.get(), page, PROT_READ | PROT_WRITE, static_cast<off_t>(2 * page));
    ASSERT_NE(base, nullptr);
    Pages other(page_count);
    other.at(2 * page) = 17;
    ASSERT_EQ(raw::rebind(exported.get(), other.data(), size), success);
    EXPECT_EQ(word(base), 17u);
    word(base, 8) = 18;
    EXPECT_EQ(other.at(2 * page + 8), 18u);
    EXPECT_TRUE(untouched_outside({0, 0})) << "the old memory";
    EXPECT_EQ(copy(handle.get(), RSM_IOC_PUTV, local.data(), page + 2, 2),
              status(RSMERR_BAD_OFFSET));
    munmap(base, page);
    ASSERT_EQ(raw::destroy(exported.get()), success);
}
