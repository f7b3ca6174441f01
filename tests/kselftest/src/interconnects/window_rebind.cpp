// SPDX-License-Identifier: GPL-2.0
// Rebinding in a window: both ranges keep their contents, and pointers into them.
#include "interconnects/testctl.hpp"
#include "support/hanging.hpp"
#include "support/memlock.hpp"
#include "support/raw.hpp"
#include "support/unchanged.hpp"

#include <sys/resource.h>
#include <thread>

using namespace rsmtest;

namespace {

class WindowRebind : public WindowTest {
protected:
    void SetUp() override
    {
        WindowTest::SetUp();
        ASSERT_EQ(seg.status(), RSM_SUCCESS);
        ASSERT_EQ(seg.publish(), RSM_SUCCESS);
        other.at() = 100;
    }
    int rebind(void *address, std::size_t length)
    {
        return rsm_memseg_export_rebind(seg, address, 0, length);
    }
    ExportSegment seg{ctl, memory, RSM_ALLOW_REBIND};
    Pages other{page_count};
};

// A process with an export that uses up the process's limit, and a thread that hangs in a rebind of it.
// Another thread must not change the process's mappings meanwhile.
class WindowRoom : public WindowTest {
protected:
    // Calls @meanwhile while the thread hangs. Returns the outcome of the rebind.
    template <class Meanwhile> raw::Outcome rebind_and(Meanwhile meanwhile)
    {
        handle = raw::open_segment();
        rsm_bind bind = raw::bind_argument(memory.data(), memory.size(), RSM_ALLOW_REBIND, -1, "window0");
        EXPECT_EQ(raw::call(handle.get(), RSM_IOC_BIND, bind), raw::success);
        EXPECT_TRUE(page.map_at(hanging.data() + hanging.size() - page_size()));
        raw::Outcome outcome;
        std::thread rebinds([&] { outcome = raw::rebind(handle.get(), hanging.data(), hanging.size()); });
        page.wait();
        meanwhile();
        page.give();
        rebinds.join();
        return outcome;
    }
    static std::int64_t pinned_pages() { return kernel_counters()["pinned_pages"]; }

    HangingPage page;
    Fd handle; // no other process has it
    Pages hanging{page_count};
    Pages other{page_count};
};

} // namespace

TEST_F(WindowRoom, of_the_old_memory_is_lent_once)
{
    in_child([&] {
        limit_locked_pages(page_count);
        drop_ipc_lock();
        raw::Outcome second;
        EXPECT_EQ(rebind_and([&] {
            second = raw::rebind(handle.get(), other.data(), other.size());
        }), raw::success);
        EXPECT_EQ(second, raw::status(RSMERR_INSUFFICIENT_MEM));
        EXPECT_EQ(raw::rebind(handle.get(), other.data(), other.size()), raw::success)
            << "the room is lent for one rebind after the other";
    });
}

TEST_F(WindowRoom, stays_charged_while_it_is_lent)
{
    const auto before = pinned_pages();
    in_child([&] {
        raw::Outcome end;
        std::int64_t pinned = 0;
        EXPECT_EQ(rebind_and([&] {
            end = raw::destroy(handle.get());
            pinned = pinned_pages();
        }), raw::status(RSMERR_BAD_SEG_HNDL));
        EXPECT_EQ(end, raw::success);
        EXPECT_EQ(pinned - before, static_cast<std::int64_t>(2 * page_count));
        handle.reset();
        EXPECT_EQ(pinned_pages(), before);
    });
}

TEST_F(WindowRebind, both_ranges_keep_their_contents)
{
    ImportSegment imported(ctl, seg.id());
    ASSERT_EQ(imported.init_barrier(), RSM_SUCCESS);
    ASSERT_EQ(imported.map(memory.size()), RSM_SUCCESS);
    imported.at(8) = 7;
    ASSERT_EQ(rebind(other.data(), other.size()), RSM_SUCCESS);
    EXPECT_TRUE(holds_pattern(memory));
    EXPECT_EQ(memory.at(8), 7u);
    EXPECT_EQ(imported.at(), 100u);
    EXPECT_EQ(imported.at(8), 0u);
    EXPECT_EQ(imported.put64(16, 17), RSM_SUCCESS);
    EXPECT_EQ(other.at(16), 17u);
    other.at(24) = 18;
    EXPECT_EQ(imported.at(24), 18u);
    EXPECT_EQ(memory.at(16), 0u);
    memory.at(24) = 19;
    EXPECT_EQ(imported.at(24), 18u) << "the old range still shows the segment";
    // The old range is the program's again.
    ExportSegment second(ctl, memory);
    EXPECT_EQ(second.status(), RSM_SUCCESS);
    EXPECT_EQ(second.destroy(), RSM_SUCCESS);
    memory.release();
    EXPECT_EQ(imported.put64(16, 20), RSM_SUCCESS);
    ASSERT_EQ(seg.destroy(), RSM_SUCCESS);
    EXPECT_EQ(other.at(16), 20u);
    EXPECT_EQ(other.at(), 100u);
}

TEST_F(WindowRebind, there_and_back)
{
    for (std::uint64_t round = 1; round <= 50; round++) {
        ASSERT_EQ(rebind(other.data(), other.size()), RSM_SUCCESS);
        ASSERT_TRUE(holds_pattern(memory));
        other.at(8) = round;
        ASSERT_EQ(rebind(memory.data(), memory.size()), RSM_SUCCESS);
        ASSERT_TRUE(holds_pattern(memory));
        ASSERT_EQ(other.at(8), round);
    }
}

TEST_F(WindowRebind, the_same_range)
{
    EXPECT_EQ(rebind(memory.data(), memory.size()), RSM_SUCCESS);
    ImportSegment imported(ctl, seg.id());
    ASSERT_EQ(imported.map(memory.size()), RSM_SUCCESS);
    memory.at(8) = 5;
    EXPECT_EQ(imported.at(8), 5u);
    EXPECT_TRUE(holds_pattern(memory));
}

TEST_F(WindowRebind, failure_changes_nothing)
{
    const Unchanged unchanged;
    ImportSegment imported(ctl, seg.id());
    ASSERT_EQ(imported.map(memory.size()), RSM_SUCCESS);
    EXPECT_EQ(rebind(other.data() + 8, other.size()), RSMERR_BAD_ADDR);
    EXPECT_EQ(rebind(other.data(), page_size()), RSMERR_BAD_LENGTH);
    EXPECT_EQ(rebind(memory.data() + page_size(), memory.size()), RSMERR_BAD_ADDR) << "overlaps";
    const Pages shared(page_count, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS);
    EXPECT_EQ(rebind(shared.data(), shared.size()), RSMERR_BAD_ADDR);
    const Pages readable(page_count, PROT_READ);
    EXPECT_EQ(rebind(readable.data(), readable.size()), RSMERR_PERM_DENIED);
    in_child([&] { EXPECT_EQ(rebind(other.data(), other.size()), RSMERR_NOT_CREATOR); });
    memory.at(8) = 5;
    EXPECT_EQ(imported.at(8), 5u);
    EXPECT_TRUE(holds_pattern(memory));
    EXPECT_EQ(other.at(), 100u);
}

TEST_F(WindowRebind, without_address_space)
{
    ImportSegment imported(ctl, seg.id());
    ASSERT_EQ(imported.map(memory.size()), RSM_SUCCESS);
    const auto line = read_line("/proc/self/statm");
    ASSERT_TRUE(line.has_value());
    const rlim_t pages = std::strtoull(line->c_str(), nullptr, 10);
    const rlimit limit{(pages + 2) * page_size(), RLIM_INFINITY};
    ASSERT_EQ(setrlimit(RLIMIT_AS, &limit), 0);
    EXPECT_EQ(rebind(other.data(), other.size()), RSMERR_INSUFFICIENT_MEM);
    // Without room for a copy the contents stay in the kernel's care.
    EXPECT_EQ(seg.destroy(), RSM_SUCCESS);
    const rlimit none{RLIM_INFINITY, RLIM_INFINITY};
    ASSERT_EQ(setrlimit(RLIMIT_AS, &none), 0);
    EXPECT_TRUE(holds_pattern(memory));
    EXPECT_EQ(other.at(), 100u);
    memory.at(8) = 6;
    EXPECT_EQ(memory.at(8), 6u);
    EXPECT_EQ(imported.at(8), 0u);
}

// The program has put something else there: that is its own.
TEST_F(WindowRebind, of_a_range_that_is_gone)
{
    Pages third(page_count);
    ASSERT_NE(mmap(memory.data(), memory.size(), PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
              MAP_FAILED);
    memory.at() = 1234;
    EXPECT_EQ(rebind(third.data(), third.size()), RSMERR_BAD_SEG_HNDL);
    EXPECT_EQ(memory.at(), 1234u);
    EXPECT_EQ(seg.destroy(), RSM_SUCCESS);
    EXPECT_EQ(memory.at(), 1234u);
}
