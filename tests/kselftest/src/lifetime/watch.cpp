// SPDX-License-Identifier: GPL-2.0
// The watch on an exporter's range: what a change of the range costs, and what it means.
#include "support/raw.hpp"

#include <fcntl.h>
#include <fstream>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

using namespace rsmtest;

namespace {

// Pages that the kernel agent has compared since it was loaded.
std::uint64_t pages_looked_at()
{
    std::ifstream file("/sys/kernel/debug/rsm/work");
    std::string name;
    std::uint64_t value = 0;
    while (file >> name >> value)
        if (name == "pages_looked_at")
            return value;
    ADD_FAILURE() << "no counter";
    return 0;
}

bool is_present(const std::byte *page)
{
    unsigned char resident = 0;
    EXPECT_EQ(::mincore(const_cast<std::byte *>(page), page_size(), &resident), 0);
    return resident & 1;
}

// An export of some pages and an import that hears of its end.
class LifetimeWatch : public testing::Test {
protected:
    static constexpr std::size_t page_count = 4096;

    void watch(const Pages &pages)
    {
        ASSERT_TRUE(pages.valid());
        ASSERT_EQ(raw::bind(seg.get(), pages.data(), pages.size()), raw::success);
        std::uint32_t id = 0;
        ASSERT_EQ(raw::publish(seg.get(), id), raw::success);
        ASSERT_EQ(raw::connect(imported.get(), id, RSM_PERM_READ), raw::success);
    }
    void watch_to_read(const Pages &pages)
    {
        const std::uint32_t flags = RSM_BIND_LOCAL | RSM_BIND_READ;
        ASSERT_EQ(raw::bind(seg.get(), pages.data(), pages.size(), flags), raw::success);
        raw::Ticket ticket;
        ASSERT_EQ(raw::grant(seg.get(), ticket, 0, pages.size(), RSM_PERM_READ), raw::success);
        ASSERT_EQ(raw::redeem(imported.get(), ticket), raw::success);
    }
    void watch_small_pages()
    {
        // A huge page is split by a change of one small page, which changes all of it.
        ASSERT_EQ(::madvise(memory.data(), memory.size(), MADV_NOHUGEPAGE), 0);
        watch(memory);
    }
    // Returns when the export has ended.
    void wait_for_end() const
    {
        pollfd entry{imported.get(), POLLRDHUP, 0};
        EXPECT_EQ(::poll(&entry, 1, -1), 1);
    }
    bool has_ended() const
    {
        pollfd entry{imported.get(), POLLRDHUP, 0};
        return ::poll(&entry, 1, 0) == 1;
    }
    // Ends the export by a change that the kernel agent sees after all changes before it. The
    // kernel agent looks at this page only if no change before has ended the export.
    void discard_last_page() const
    {
        const std::byte *last = memory.data() + memory.size() - page_size();
        ASSERT_EQ(::madvise(const_cast<std::byte *>(last), page_size(), MADV_DONTNEED), 0);
        wait_for_end();
    }

    Pages memory{page_count};
    Fd seg = raw::open_segment();
    Fd imported = raw::open_segment();
};

} // namespace

TEST_F(LifetimeWatch, a_discarded_page_is_not_faulted_in)
{
    watch_small_pages();
    std::byte *page = memory.data() + 7 * page_size();
    ASSERT_TRUE(is_present(page));
    ASSERT_EQ(::madvise(page, page_size(), MADV_DONTNEED), 0);
    wait_for_end();
    EXPECT_FALSE(is_present(page));
}

TEST_F(LifetimeWatch, a_change_costs_the_pages_that_it_names)
{
    constexpr std::size_t changes = 64;
    watch_small_pages();
    const std::uint64_t before = pages_looked_at();
    for (std::size_t i = 0; i < changes; ++i)
        ASSERT_EQ(::madvise(memory.data() + i * 61 * page_size(), page_size(), MADV_FREE), 0);
    discard_last_page();
    EXPECT_EQ(pages_looked_at() - before, changes + 1);
}

// NUMA balancing tells the kernel agent of its changes as mprotect() does.
TEST_F(LifetimeWatch, a_change_of_no_right_costs_nothing)
{
    watch_small_pages();
    const std::uint64_t before = pages_looked_at();
    for (int round = 0; round < 10; ++round) {
        ASSERT_EQ(::mprotect(memory.data(), memory.size(), PROT_READ | PROT_WRITE | PROT_EXEC), 0);
        ASSERT_EQ(::mprotect(memory.data(), memory.size(), PROT_READ | PROT_WRITE), 0);
    }
    discard_last_page();
    EXPECT_EQ(pages_looked_at() - before, 1u);
}

TEST_F(LifetimeWatch, a_page_that_the_exporter_may_not_write_ends_the_export)
{
    watch(memory);
    ASSERT_EQ(::mprotect(memory.data() + 9 * page_size(), page_size(), PROT_READ), 0);
    wait_for_end();
}

TEST_F(LifetimeWatch, an_export_to_read_lives_until_its_exporter_may_not_read)
{
    watch_to_read(memory);
    ASSERT_EQ(::mprotect(memory.data(), memory.size(), PROT_READ), 0);
    EXPECT_FALSE(has_ended());
    ASSERT_EQ(::mprotect(memory.data() + 9 * page_size(), page_size(), PROT_NONE), 0);
    wait_for_end();
}

// Shared memory is the exporter's as long as its file has it, mapped or not.
TEST_F(LifetimeWatch, discarding_a_mapping_of_shared_memory_does_not_end_the_export)
{
    const Fd file(::memfd_create("watch", MFD_CLOEXEC));
    ASSERT_EQ(::ftruncate(file.get(), static_cast<off_t>(4 * page_size())), 0);
    const Pages shared(4, PROT_READ | PROT_WRITE, MAP_SHARED, file.get());
    watch(shared);
    const std::uint64_t before = pages_looked_at();
    ASSERT_EQ(::madvise(shared.data(), shared.size(), MADV_DONTNEED), 0);
    while (pages_looked_at() - before < 4)
        ::usleep(1000);
    ASSERT_EQ(::fallocate(file.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
                          static_cast<off_t>(page_size())),
              0);
    wait_for_end();
    EXPECT_GT(pages_looked_at() - before, 4u) << "the discard has ended it";
}

TEST_F(LifetimeWatch, a_huge_page_that_is_split_stays)
{
    constexpr std::size_t huge = 2 << 20;
    Pages large(2 * huge / page_size());
    std::byte *start = large.data() + (huge - reinterpret_cast<std::uintptr_t>(large.data()) % huge);
    ASSERT_EQ(::madvise(start, huge, MADV_HUGEPAGE), 0);
    start[0] = std::byte{1};
    ASSERT_EQ(raw::bind(seg.get(), start, 8 * page_size()), raw::success);
    std::uint32_t id = 0;
    ASSERT_EQ(raw::publish(seg.get(), id), raw::success);
    ASSERT_EQ(raw::connect(imported.get(), id, RSM_PERM_READ), raw::success);
    // The first change splits the huge page, which names each page a few times at most. The kernel
    // agent looks at more pages than that only if it has found none lost.
    const std::uint64_t before = pages_looked_at();
    while (pages_looked_at() - before <= 32) {
        ASSERT_EQ(::madvise(start + 4 * page_size(), page_size(), MADV_FREE), 0);
        ASSERT_FALSE(has_ended());
        ::usleep(1000);
    }
    ASSERT_EQ(::madvise(start + 4 * page_size(), page_size(), MADV_DONTNEED), 0);
    wait_for_end();
}
