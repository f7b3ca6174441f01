// SPDX-License-Identifier: GPL-2.0
// Events that end an export, and events that do not: E14, E15 and the range that goes away.
#include "support/loopback.hpp"
#include "support/sequel.hpp"

#include <csignal>
#include <memory>
#include <unistd.h>

using namespace rsmtest;

namespace {

constexpr rsm_memseg_id_t the_id = 0x600040;

// A second process that exports four pages under the_id, then does what it is
// told; this process imports them.
class Lifetime : public LoopbackTest {
protected:
    enum Order : std::uint64_t { unmap = 1, unmap_tail, protect, dont_need, replace, exec, leave };

    void SetUp() override
    {
        LoopbackTest::SetUp();
        exporter.receive();
        imported = std::make_unique<ImportSegment>(ctl, the_id);
        ASSERT_EQ(imported->status(), RSM_SUCCESS);
        ASSERT_EQ(imported->init_barrier(), RSM_SUCCESS);
        ASSERT_EQ(imported->map(4 * page_size()), RSM_SUCCESS);
    }

    // Runs in the exporter.
    static void serve(Link &link)
    {
        Controller controller;
        Pages pages(4);
        ExportSegment seg(controller, pages, RSM_ALLOW_REBIND);
        ASSERT_EQ(seg.publish(the_id), RSM_SUCCESS);
        pages.at() = 111;
        link.send();
        const std::uint64_t order = link.receive();
        switch (order) {
        case unmap:
            munmap(pages.data(), pages.size());
            break;
        case unmap_tail:
            munmap(pages.data() + 3 * page_size(), page_size());
            break;
        case protect:
            mprotect(pages.data() + page_size(), page_size(), PROT_READ);
            break;
        case dont_need:
            madvise(pages.data(), pages.size(), MADV_DONTNEED);
            break;
        case replace:
            mmap(pages.data(), page_size(), PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
            break;
        case exec:
            // This binary again, as a program that only sleeps.
            sleeper.exec();
            FAIL() << "exec failed";
            break;
        default:
            break;
        }
        if (order == leave) {
            // The segment goes with the process, not by destroy.
            _exit(0);
        }
        link.send();
        link.receive();
        // Importers know before the worker has ended the segment.
        int result = RSM_SUCCESS;
        eventually([&] {
            rsm_memseg_id_t id = 0;
            result = rsm_memseg_export_publish(seg, &id, nullptr, 0);
            return result != RSMERR_SEG_ALREADY_PUBLISHED;
        });
        link.send(static_cast<std::uint64_t>(result));
        link.receive();
        link.send(static_cast<std::uint64_t>(seg.destroy()));
    }

    void expect_live()
    {
        EXPECT_EQ(imported->put64(8, 5), RSM_SUCCESS);
        EXPECT_EQ(imported->at(), 111u);
    }
    void expect_dead()
    {
        EXPECT_TRUE(eventually([&] {
            return imported->put64(8, 1) == RSMERR_CONN_ABORTED;
        })) << "the import goes on";
        EXPECT_TRUE(eventually([&] {
            return ImportSegment(ctl, the_id).status() == RSMERR_SEG_NOT_PUBLISHED;
        })) << "the id is still published";
        // The end of another process is asynchronous, step by step.
        for (std::size_t at = 0; at < 4 * page_size(); at += page_size())
            EXPECT_TRUE(eventually([&] { return imported->at(at) == 0; })) << at;
        Pages pages(1);
        ExportSegment heir(ctl, pages);
        EXPECT_TRUE(eventually([&] { return heir.publish(the_id) == RSM_SUCCESS; }))
            << "the id is not free";
    }
    // The exporter's view of an export whose range went away.
    void expect_dead_for_the_exporter()
    {
        exporter.send();
        EXPECT_EQ(exporter.receive(), static_cast<std::uint64_t>(RSMERR_BAD_SEG_HNDL));
        exporter.send();
        EXPECT_EQ(exporter.receive(), static_cast<std::uint64_t>(RSM_SUCCESS)) << "destroy";
        exporter.expect_success();
    }

    Child exporter{[](Link &link) { serve(link); }};
    std::unique_ptr<ImportSegment> imported;
};

} // namespace

TEST_F(Lifetime, E14_exporter_killed)
{
    expect_live();
    exporter.kill();
    expect_dead();
}

TEST_F(Lifetime, E14_exporter_exits)
{
    expect_live();
    exporter.send(leave);
    exporter.expect_success();
    expect_dead();
}

TEST_F(Lifetime, E15_exporter_execs)
{
    expect_live();
    exporter.send(exec);
    expect_dead();
    EXPECT_EQ(::kill(exporter.pid(), 0), 0) << "the process did not live on";
    exporter.kill();
}

TEST_F(Lifetime, exporter_unmaps_its_range)
{
    exporter.send(unmap);
    exporter.receive();
    expect_dead();
    expect_dead_for_the_exporter();
}

TEST_F(Lifetime, exporter_unmaps_part_of_its_range)
{
    exporter.send(unmap_tail);
    exporter.receive();
    expect_dead();
    expect_dead_for_the_exporter();
}

TEST_F(Lifetime, exporter_maps_something_else_there)
{
    exporter.send(replace);
    exporter.receive();
    expect_dead();
    expect_dead_for_the_exporter();
}

TEST_F(Lifetime, exporter_protects_its_range)
{
    // Either way is allowed: the export ends, or its pinned pages stay.
    exporter.send(protect);
    exporter.receive();
    // Not at the start of a page, where expect_dead() looks: a put that comes
    // after the end is stored in the page that all of the mapping then shows.
    const int result = imported->put64(static_cast<off_t>(page_size() + 8), 5);
    EXPECT_TRUE(result == RSM_SUCCESS || result == RSMERR_CONN_ABORTED) << result;
    exporter.kill();
    expect_dead();
}

TEST_F(Lifetime, exporter_discards_its_pages)
{
    exporter.send(dont_need);
    exporter.receive();
    const int result = imported->put64(8, 5);
    EXPECT_TRUE(result == RSM_SUCCESS || result == RSMERR_CONN_ABORTED) << result;
    const std::uint64_t seen = imported->at();
    EXPECT_TRUE(seen == 0 || seen == 111) << seen;
    exporter.kill();
    expect_dead();
}
