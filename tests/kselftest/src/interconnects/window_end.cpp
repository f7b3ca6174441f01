// SPDX-License-Identifier: GPL-2.0
// Ends of an export in a window, and what each leaves behind.
#include "interconnects/testctl.hpp"

#include "support/raw.hpp"
#include "support/sequel.hpp"

#include <memory>
#include <poll.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace rsmtest;

namespace {

class WindowEnd : public WindowTest {
protected:
    void SetUp() override
    {
        WindowTest::SetUp();
        ASSERT_EQ(seg.status(), RSM_SUCCESS);
        ASSERT_EQ(seg.publish(), RSM_SUCCESS);
        imported = std::make_unique<ImportSegment>(ctl, seg.id());
        ASSERT_EQ(imported->init_barrier(), RSM_SUCCESS);
        ASSERT_EQ(imported->map(memory.size()), RSM_SUCCESS);
        ASSERT_EQ(imported->at(page_size()), 2u);
    }
    bool aborted() const
    {
        std::uint64_t value = 0;
        return imported->get64(0, &value) == RSMERR_CONN_ABORTED;
    }
    void expect_dead()
    {
        EXPECT_TRUE(eventually([&] { return aborted(); }));
        EXPECT_TRUE(eventually([&] { return imported->at(page_size()) == 0; }));
        EXPECT_NE(seg.publish(), RSM_SUCCESS);
    }
    std::byte *page(std::size_t i) const { return memory.data() + i * page_size(); }

    ExportSegment seg{ctl, memory, RSM_ALLOW_REBIND};
    std::unique_ptr<ImportSegment> imported;
};

// An exporter in a process of its own, under the eyes of this one.
class WindowExporter : public WindowTest {
protected:
    static constexpr rsm_memseg_id_t the_id = 0x600070;

    void SetUp() override
    {
        WindowTest::SetUp();
        exporter.receive();
        imported = std::make_unique<ImportSegment>(ctl, the_id);
        ASSERT_EQ(imported->init_barrier(), RSM_SUCCESS);
        ASSERT_EQ(imported->map(memory.size()), RSM_SUCCESS);
        ASSERT_EQ(imported->at(), 1u);
    }
    static void serve(Link &link, const Pages &pages)
    {
        const Controller ctl("window0");
        ExportSegment seg(ctl, pages);
        ASSERT_EQ(seg.publish(the_id), RSM_SUCCESS);
        pages.at() = 1;
        link.send();
        if (link.receive() == 2) {
            sleeper.exec();
        }
        _exit(0);
    }
    void expect_dead()
    {
        std::uint64_t value = 0;
        EXPECT_TRUE(eventually([&] { return imported->get64(0, &value) == RSMERR_CONN_ABORTED; }));
        EXPECT_TRUE(eventually([&] { return imported->at() == 0; }));
        EXPECT_EQ(ImportSegment(ctl, the_id).status(), RSMERR_SEG_NOT_PUBLISHED);
    }
    Child exporter{[&](Link &link) { serve(link, memory); }};
    std::unique_ptr<ImportSegment> imported;
};

} // namespace

TEST_F(WindowEnd, range_unmapped)
{
    ASSERT_EQ(munmap(page(0), memory.size()), 0);
    expect_dead();
    // A mapping that the program puts there is its own.
    ASSERT_NE(mmap(page(0), memory.size(), PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
              MAP_FAILED);
    memory.at() = 1234;
    ASSERT_EQ(seg.destroy(), RSM_SUCCESS);
    EXPECT_EQ(memory.at(), 1234u);
    EXPECT_EQ(memory.at(page_size()), 0u);
}

TEST_F(WindowEnd, a_page_replaced)
{
    ASSERT_NE(mmap(page(2), page_size(), PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
              MAP_FAILED);
    expect_dead();
    memory.at(2 * page_size()) = 1234;
    EXPECT_EQ(memory.at(3 * page_size()), 4u) << "the rest shows a copy";
    memory.at(3 * page_size()) = 5;
    ASSERT_EQ(seg.destroy(), RSM_SUCCESS);
    EXPECT_EQ(memory.at(), 1u);
    EXPECT_EQ(memory.at(2 * page_size()), 1234u);
    EXPECT_EQ(memory.at(3 * page_size()), 5u);
}

TEST_F(WindowEnd, range_moved_away)
{
    Pages target(page_count);
    ASSERT_EQ(mremap(page(0), memory.size(), memory.size(), MREMAP_MAYMOVE | MREMAP_FIXED,
                     target.data()),
              target.data());
    expect_dead();
    EXPECT_TRUE(holds_pattern(target));
    ASSERT_EQ(seg.destroy(), RSM_SUCCESS);
    EXPECT_TRUE(holds_pattern(target));
    target.at(8) = 4;
    EXPECT_EQ(target.at(8), 4u);
}

TEST_F(WindowEnd, range_protected)
{
    ASSERT_EQ(mprotect(page(1), page_size(), PROT_READ), 0);
    expect_dead();
    EXPECT_TRUE(holds_pattern(memory));
    ASSERT_EQ(seg.destroy(), RSM_SUCCESS);
    EXPECT_TRUE(holds_pattern(memory));
    memory.at(8) = 6;
    ASSERT_EQ(mprotect(page(1), page_size(), PROT_READ | PROT_WRITE), 0);
    memory.at(page_size() + 8) = 7;
    EXPECT_EQ(memory.at(8), 6u);
    EXPECT_EQ(memory.at(page_size() + 8), 7u);
}

TEST_F(WindowEnd, protected_and_back_is_ordinary_after_destroy)
{
    ASSERT_EQ(mprotect(page(0), memory.size(), PROT_NONE), 0);
    expect_dead();
    ASSERT_EQ(mprotect(page(0), memory.size(), PROT_READ | PROT_WRITE), 0);
    EXPECT_TRUE(holds_pattern(memory));
    ASSERT_EQ(seg.destroy(), RSM_SUCCESS);
    EXPECT_TRUE(holds_pattern(memory));
    EXPECT_EQ(ExportSegment(ctl, memory).status(), RSM_SUCCESS);
}

TEST_F(WindowEnd, advice_does_not_end_it)
{
    for (const int advice : {MADV_DONTNEED, MADV_FREE, MADV_REMOVE, MADV_COLD, MADV_PAGEOUT,
                             MADV_HUGEPAGE, MADV_MERGEABLE})
        madvise(page(0), memory.size(), advice);
    mlock(page(0), memory.size());
    EXPECT_TRUE(holds_pattern(memory));
    EXPECT_FALSE(aborted());
}

// The child shares the segment, at the same address, and keeps a copy of its own
// when the parent's is gone. It is not the creator: its destroy ends nothing.
TEST_F(WindowEnd, forked_child_shares_it)
{
    Child child([&](Link &link) {
        EXPECT_TRUE(holds_pattern(memory));
        memory.at(8) = 21;
        link.send();
        link.receive();
        EXPECT_EQ(memory.at(8), 22u);
        EXPECT_EQ(seg.destroy(), RSM_SUCCESS);
        EXPECT_EQ(memory.at(8), 22u);
        link.send();
        link.receive();
        EXPECT_EQ(memory.at(8), 22u);
        memory.at(8) = 23;
        EXPECT_TRUE(holds_pattern(memory));
        link.send();
    });
    child.receive();
    EXPECT_EQ(memory.at(8), 21u);
    EXPECT_EQ(imported->at(8), 21u);
    imported->at(8) = 22;
    child.send();
    child.receive();
    EXPECT_FALSE(aborted());
    ASSERT_EQ(seg.destroy(), RSM_SUCCESS);
    child.send();
    child.receive();
    EXPECT_EQ(memory.at(8), 22u) << "the child's stores reach the parent's memory";
    EXPECT_EQ(imported->at(8), 0u);
    child.expect_success();
}

// The parent opened the descriptor and keeps it; the child makes an export of it and never maps it.
TEST_F(WindowEnd, exporter_that_mapped_nothing_ends_with_its_process)
{
    const std::int64_t before = kernel_counters()["pinned_pages"];
    const Fd handle = raw::open_segment();
    const Fd import = raw::open_segment();
    Child exporter([&](Link &link) {
        const Pages pages(page_count);
        rsm_bind bind = raw::bind_argument(pages.data(), pages.size(), 0, -1, "window0");
        ASSERT_EQ(raw::call(handle.get(), RSM_IOC_BIND, bind), raw::success);
        std::uint32_t id = 0;
        ASSERT_EQ(raw::publish(handle.get(), id), raw::success);
        link.send(id);
        link.receive();
    });
    rsm_connect connect = raw::connect_argument(static_cast<std::uint32_t>(exporter.receive()),
                                                RSM_PERM_RDWR, -1, "window0");
    ASSERT_EQ(raw::call(import.get(), RSM_IOC_CONNECT, connect), raw::success);
    exporter.send();
    exporter.expect_success();
    pollfd hangup{import.get(), POLLRDHUP, 0};
    while (poll(&hangup, 1, -1) < 0)
        EXPECT_EQ(errno, EINTR);
    EXPECT_NE(hangup.revents & POLLRDHUP, 0);
    // The charge goes last.
    while (kernel_counters()["pinned_pages"] != before)
        sched_yield();
}

namespace {

// Exports through window0, maps and ends it by taking a right away, while the mapping stays.
raw::Outcome export_and_protect(const Pages &pages, const Fd &handle)
{
    rsm_bind bind = raw::bind_argument(pages.data(), pages.size(), 0, -1, "window0");
    if (const auto outcome = raw::call(handle.get(), RSM_IOC_BIND, bind); outcome != raw::success)
        return outcome;
    std::uint32_t id = 0;
    EXPECT_EQ(raw::publish(handle.get(), id), raw::success);
    const Fd import = raw::open_segment();
    rsm_connect connect = raw::connect_argument(id, RSM_PERM_RDWR, -1, "window0");
    EXPECT_EQ(raw::call(import.get(), RSM_IOC_CONNECT, connect), raw::success);
    EXPECT_NE(mmap(pages.data(), pages.size(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                   handle.get(), 0),
              MAP_FAILED);
    pages.at() = 7;
    EXPECT_EQ(mprotect(pages.data(), pages.size(), PROT_READ), 0);
    pollfd hangup{import.get(), POLLRDHUP, 0};
    while (poll(&hangup, 1, -1) < 0)
        EXPECT_EQ(errno, EINTR);
    EXPECT_EQ(pages.at(), 7u) << "the kernel's copy";
    return raw::success;
}

} // namespace

// The kernel keeps the contents of a dead export for its mappings, at the exporter's expense.
TEST_F(WindowEnd, copies_of_the_dead_are_charged)
{
    in_child_as(alice(), [&] {
        const rlimit limit{2 * memory.size(), 2 * memory.size()};
        ASSERT_EQ(setrlimit(RLIMIT_MEMLOCK, &limit), 0);
        Pages first(page_count);
        const Pages second(page_count);
        const Pages third(page_count);
        Fd handle = raw::open_segment();
        const Fd other = raw::open_segment();
        const Fd last = raw::open_segment();
        EXPECT_EQ(export_and_protect(first, handle), raw::success);
        EXPECT_EQ(export_and_protect(second, other), raw::success);
        EXPECT_EQ(export_and_protect(third, last), raw::status(RSMERR_INSUFFICIENT_MEM));
        first.release();
        handle.reset();
        EXPECT_EQ(export_and_protect(third, last), raw::success);
    });
}

TEST_F(WindowExporter, exit)
{
    exporter.send(1);
    exporter.expect_success();
    expect_dead();
}

TEST_F(WindowExporter, exec)
{
    exporter.send(2);
    expect_dead();
}

TEST_F(WindowExporter, kill)
{
    exporter.kill();
    expect_dead();
}

// An import that ends with its controller leaves its export, and would get nothing there any more.
TEST_F(WindowTest, an_aborted_import_gets_no_memory_of_a_rebind)
{
    Controller loopback;
    Pages exported(page_count);
    ExportSegment seg(loopback, exported, RSM_ALLOW_REBIND);
    ASSERT_EQ(seg.publish(), RSM_SUCCESS);
    ImportSegment imported(ctl, seg.id());
    ASSERT_EQ(imported.status(), RSM_SUCCESS);
    ASSERT_EQ(imported.map(exported.size()), RSM_SUCCESS);
    exported.at() = 1;
    ASSERT_EQ(imported.at(), 1u);
    ASSERT_TRUE(write_text("/sys/module/rsm_testctl/parameters/remove_window", "1"));
    ASSERT_EQ(imported.at(), 0u);
    Pages secret(page_count);
    secret.at() = 2;
    ASSERT_EQ(rsm_memseg_export_rebind(seg, secret.data(), 0, secret.size()), RSM_SUCCESS);
    EXPECT_EQ(imported.at(), 0u);
    imported.at() = 3;
    EXPECT_EQ(secret.at(), 2u);
}
