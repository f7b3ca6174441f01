// SPDX-License-Identifier: GPL-2.0
// Rebinding, and who may do what with an export: E10, E11.
#include "support/loopback.hpp"
#include "support/raw.hpp"
#include "support/unchanged.hpp"

#include <atomic>
#include <cerrno>
#include <sched.h>
#include <sys/wait.h>
#include <thread>

using namespace rsmtest;

namespace {

using ExportRebind = PublishedTest;

// On one processor a task of the real-time class does not let the worker run that ends an export. A user who may not
// have that class leaves it to chance.
void let_no_worker_run()
{
    const sched_param first{1};
    if (sched_setscheduler(0, SCHED_FIFO, &first) != 0) {
        EXPECT_EQ(errno, EPERM);
    }
}

} // namespace

TEST_F(ExportRebind, E10_forked_child_is_not_the_creator)
{
    ExportSegment bound(ctl, memory, RSM_ALLOW_REBIND);
    in_child([&] {
        Pages other(page_count);
        rsmapi_access_entry_t entry{local_node(), 0666};
        rsm_memseg_id_t id = 0x600010;
        EXPECT_EQ(rsm_memseg_export_publish(bound, &id, nullptr, 0), RSMERR_NOT_CREATOR);
        EXPECT_EQ(rsm_memseg_export_republish(seg, &entry, 1), RSMERR_NOT_CREATOR);
        EXPECT_EQ(rsm_memseg_export_unpublish(seg), RSMERR_NOT_CREATOR);
        EXPECT_EQ(rsm_memseg_export_rebind(seg, other.data(), 0, other.size()), RSMERR_NOT_CREATOR);
        EXPECT_EQ(rsm_memseg_export_destroy(seg), RSM_SUCCESS);
        EXPECT_EQ(rsm_memseg_export_destroy(bound), RSM_SUCCESS);
    });
    // None of that touched the parent's exports.
    ImportSegment imported(ctl, seg.id());
    ASSERT_EQ(imported.status(), RSM_SUCCESS);
    ASSERT_EQ(imported.init_barrier(), RSM_SUCCESS);
    EXPECT_EQ(imported.put64(0, 5), RSM_SUCCESS);
    EXPECT_EQ(memory.at(0), 5u);
    EXPECT_EQ(bound.publish(), RSM_SUCCESS);
    EXPECT_EQ(seg.unpublish(), RSM_SUCCESS);
}

TEST_F(ExportRebind, E10_checks_before_the_creator)
{
    ExportSegment fixed(ctl, memory);
    in_child([&] {
        Pages other(page_count);
        rsm_memseg_id_t id = 1;
        EXPECT_EQ(rsm_memseg_export_publish(seg, &id, nullptr, 0), RSMERR_SEG_ALREADY_PUBLISHED);
        EXPECT_EQ(rsm_memseg_export_publish(fixed, &id, nullptr, 0), RSMERR_RESERVED_SEGID);
        EXPECT_EQ(rsm_memseg_export_unpublish(fixed), RSMERR_SEG_NOT_PUBLISHED);
        EXPECT_EQ(rsm_memseg_export_rebind(fixed, other.data(), 0, other.size()),
                  RSMERR_REBIND_NOT_ALLOWED);
        EXPECT_EQ(rsm_memseg_export_rebind(seg, other.data(), 0, 1), RSMERR_NOT_CREATOR);
    });
}

TEST_F(ExportRebind, E11_rebind_errors)
{
    Unchanged unchanged;
    ExportSegment fixed(ctl, memory);
    Pages other(page_count);
    ImportSegment imported(ctl, seg.id());
    ASSERT_EQ(imported.map(memory.size()), RSM_SUCCESS);

    EXPECT_EQ(rsm_memseg_export_rebind(nullptr, nullptr, 0, 0), RSMERR_BAD_SEG_HNDL);
    EXPECT_EQ(rsm_memseg_export_rebind(fixed, nullptr, 0, 0), RSMERR_BAD_ADDR);
    EXPECT_EQ(rsm_memseg_export_rebind(fixed, other.data(), 0, 1), RSMERR_REBIND_NOT_ALLOWED);
    EXPECT_EQ(rsm_memseg_export_rebind(fixed, other.data(), 0, other.size()),
              RSMERR_REBIND_NOT_ALLOWED);
    EXPECT_EQ(rsm_memseg_export_rebind(seg, nullptr, 0, other.size()), RSMERR_BAD_ADDR);
    for (const std::size_t length : {std::size_t{0}, page_size(), other.size() - 1,
                                     other.size() + page_size(), ~std::size_t{0}})
        EXPECT_EQ(rsm_memseg_export_rebind(seg, other.data() + 1, 0, length), RSMERR_BAD_LENGTH)
            << length;
    EXPECT_EQ(rsm_memseg_export_rebind(seg, other.data() + 1, 0, other.size()), RSMERR_BAD_ADDR);
    EXPECT_EQ(rsm_memseg_export_rebind(seg, other.data() + 8, 0, other.size()), RSMERR_BAD_ADDR);

    ASSERT_EQ(mprotect(other.data() + page_size(), page_size(), PROT_READ), 0);
    EXPECT_EQ(rsm_memseg_export_rebind(seg, other.data(), 0, other.size()), RSMERR_PERM_DENIED);
    ASSERT_EQ(munmap(other.data() + page_size(), page_size()), 0);
    EXPECT_EQ(rsm_memseg_export_rebind(seg, other.data(), 0, other.size()), RSMERR_BAD_ADDR);

    imported.at(8) = 21;
    EXPECT_EQ(memory.at(8), 21u) << "the old binding is gone";
}

TEST_F(ExportRebind, E11_rebind)
{
    Pages other(page_count);
    memory.at(0) = 1;
    memory.at(8) = 2;
    other.at(0) = 100;
    ImportSegment mapped(ctl, seg.id());
    ImportSegment copying(ctl, seg.id());
    ASSERT_EQ(mapped.map(memory.size()), RSM_SUCCESS);
    ASSERT_EQ(copying.init_barrier(), RSM_SUCCESS);
    EXPECT_EQ(mapped.at(0), 1u);
    mapped.at(3 * page_size()) = 33;
    std::uint64_t value = 0;
    EXPECT_EQ(copying.get64(0, &value), RSM_SUCCESS);
    EXPECT_EQ(value, 1u);

    EXPECT_EQ(rsm_memseg_export_rebind(seg, memory.data(), 12345, memory.size()), RSM_SUCCESS)
        << "the same address";
    EXPECT_EQ(mapped.at(8), 2u);
    ASSERT_EQ(rsm_memseg_export_rebind(seg, other.data(), 0, other.size()), RSM_SUCCESS);

    EXPECT_EQ(mapped.at(0), 100u);
    EXPECT_EQ(mapped.at(8), 0u) << "contents were copied";
    EXPECT_EQ(mapped.at(3 * page_size()), 0u);
    EXPECT_EQ(copying.get64(0, &value), RSM_SUCCESS);
    EXPECT_EQ(value, 100u);
    EXPECT_EQ(copying.put64(16, 200), RSM_SUCCESS);
    EXPECT_EQ(mapped.at(16), 200u);
    EXPECT_EQ(other.at(16), 200u);
    EXPECT_EQ(memory.at(16), 0u);
    memory.at(24) = 300;
    EXPECT_EQ(mapped.at(24), 0u) << "the old memory is still visible";
    EXPECT_EQ(rsm_intr_signal_post(static_cast<rsm_memseg_import_handle_t>(mapped), 0), RSM_SUCCESS);
    EXPECT_EQ(rsm_intr_signal_wait(static_cast<rsm_memseg_export_handle_t>(seg), 0), RSM_SUCCESS);
    // The old memory is the program's again.
    memory.release();
    EXPECT_EQ(copying.put64(16, 201), RSM_SUCCESS);
    EXPECT_EQ(ImportSegment(ctl, seg.id()).status(), RSM_SUCCESS);
}

// Although the worker that ends the export has not come to it.
TEST_F(ExportRebind, E11_rebind_finds_the_export_dead_once_its_range_is_gone)
{
    const Pages other(page_count);
    let_no_worker_run();
    for (int round = 0; round < 100; round++) {
        Pages old(page_count);
        const ExportSegment exported(ctl, old, RSM_ALLOW_REBIND);
        old.release();
        ASSERT_EQ(rsm_memseg_export_rebind(exported, other.data(), 0, other.size()),
                  RSMERR_BAD_SEG_HNDL)
            << "round " << round;
    }
}

// So do the other calls that would give the segment to somebody.
TEST_F(ExportRebind, E11_publish_republish_and_grant_find_the_export_dead_once_its_range_is_gone)
{
    let_no_worker_run();
    for (int round = 0; round < 100; round++) {
        Pages old(page_count);
        const Fd bound = raw::open_segment();
        ASSERT_EQ(raw::bind(bound.get(), old.data(), old.size()), raw::success);
        raw::Published published;
        ASSERT_TRUE(published.ok);
        old.release();
        published.memory.release();
        std::uint32_t id = 0;
        raw::Ticket ticket;
        ASSERT_EQ(raw::publish(bound.get(), id), raw::status(RSMERR_BAD_SEG_HNDL)) << "round " << round;
        ASSERT_EQ(raw::grant(bound.get(), ticket, 0, page_size()), raw::status(RSMERR_BAD_SEG_HNDL));
        ASSERT_EQ(raw::republish(published.handle.get()), raw::status(RSMERR_SEG_NOT_PUBLISHED));
    }
}

// New memory where the old one was is not the segment's.
TEST_F(ExportRebind, E11_rebind_finds_the_export_dead_once_its_range_is_replaced)
{
    let_no_worker_run();
    const Pages old(page_count);
    const ExportSegment exported(ctl, old, RSM_ALLOW_REBIND);
    ASSERT_EQ(mmap(old.data(), old.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
              old.data());
    EXPECT_EQ(rsm_memseg_export_rebind(exported, old.data(), 0, old.size()), RSMERR_BAD_SEG_HNDL);
}

TEST_F(ExportRebind, E11_rebind_a_bound_segment)
{
    ASSERT_EQ(seg.unpublish(), RSM_SUCCESS);
    Pages other(page_count);
    ASSERT_EQ(rsm_memseg_export_rebind(seg, other.data(), 0, other.size()), RSM_SUCCESS);
    ASSERT_EQ(seg.publish(), RSM_SUCCESS);
    ImportSegment imported(ctl, seg.id());
    ASSERT_EQ(imported.map(memory.size()), RSM_SUCCESS);
    imported.at(8) = 6;
    EXPECT_EQ(other.at(8), 6u);
}

TEST_F(ExportRebind, E11_rebind_under_importers_that_never_stop)
{
    Pages other(page_count);
    std::atomic<bool> stop{false};
    std::vector<std::thread> importers;
    std::atomic<int> failures{0};
    for (int i = 0; i < 3; i++) {
        importers.emplace_back([&, i] {
            ImportSegment imported(ctl, seg.id());
            if (imported.status() != RSM_SUCCESS || imported.init_barrier() != RSM_SUCCESS ||
                (i == 0 && imported.map(memory.size()) != RSM_SUCCESS)) {
                failures++;
                return;
            }
            std::vector<std::byte> buffer(memory.size());
            while (!stop) {
                for (std::size_t at = 0; i == 0 && at < memory.size(); at += 512)
                    imported.at(at) = imported.at(at) + 1;
                if (rsm_memseg_import_put(imported, 0, buffer.data(), buffer.size()) != RSM_SUCCESS ||
                    rsm_memseg_import_get(imported, 0, buffer.data(), buffer.size()) != RSM_SUCCESS)
                    failures++;
            }
        });
    }
    for (int i = 0; i < 200; i++) {
        const Pages &target = i % 2 ? memory : other;
        EXPECT_EQ(rsm_memseg_export_rebind(seg, target.data(), 0, target.size()), RSM_SUCCESS);
    }
    stop = true;
    for (std::thread &importer : importers)
        importer.join();
    EXPECT_EQ(failures, 0);
}
