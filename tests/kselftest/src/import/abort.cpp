// SPDX-License-Identifier: GPL-2.0
// Forced disconnect and fork: I10, I11.
#include "support/loopback.hpp"

#include <csignal>
#include <list>
#include <thread>

using namespace rsmtest;

namespace {

using ImportAbort = PublishedTest;

// Everything that must report the abort, again and again.
void expect_aborted(ImportSegment &h)
{
    auto *handle = static_cast<rsm_memseg_import_handle_t>(h);
    for (int round = 0; round < 2; round++) {
        std::uint64_t value = 1;
        std::uint8_t bytes[8] = {};
        std::uint16_t word = 0;
        std::uint32_t dword = 0;
        EXPECT_EQ(h.put64(0, 1), RSMERR_CONN_ABORTED);
        EXPECT_EQ(h.get64(0, &value), RSMERR_CONN_ABORTED);
        EXPECT_EQ(rsm_memseg_import_put8(handle, 0, bytes, 1), RSMERR_CONN_ABORTED);
        EXPECT_EQ(rsm_memseg_import_put16(handle, 0, &word, 1), RSMERR_CONN_ABORTED);
        EXPECT_EQ(rsm_memseg_import_put32(handle, 0, &dword, 1), RSMERR_CONN_ABORTED);
        EXPECT_EQ(rsm_memseg_import_get8(handle, 0, bytes, 1), RSMERR_CONN_ABORTED);
        EXPECT_EQ(rsm_memseg_import_put(handle, 0, bytes, 8), RSMERR_CONN_ABORTED);
        EXPECT_EQ(rsm_memseg_import_get(handle, 0, bytes, 8), RSMERR_CONN_ABORTED);
        EXPECT_EQ(rsm_memseg_import_put(handle, 0, bytes, 0), RSMERR_CONN_ABORTED)
            << "nothing to copy still looks at the connection";
        rsm_iovec_t vector{};
        vector.io_type = RSM_VA_TYPE;
        vector.local.vaddr = reinterpret_cast<caddr_t>(bytes);
        vector.transfer_length = 8;
        rsm_scat_gath_t request{};
        request.io_request_count = 1;
        request.remote_handle = handle;
        request.iovec = &vector;
        EXPECT_EQ(rsm_memseg_import_putv(&request), RSMERR_CONN_ABORTED);
        EXPECT_EQ(request.io_residual_count, 1u);
        EXPECT_EQ(rsm_memseg_import_getv(&request), RSMERR_CONN_ABORTED);
        EXPECT_EQ(rsm_intr_signal_post(handle, 0), RSMERR_CONN_ABORTED);
        EXPECT_EQ(rsm_memseg_import_open_barrier(h.barrier()), RSM_SUCCESS);
        EXPECT_EQ(rsm_memseg_import_order_barrier(h.barrier()), RSMERR_CONN_ABORTED);
        EXPECT_EQ(rsm_memseg_import_close_barrier(h.barrier()), RSMERR_CONN_ABORTED);
        EXPECT_EQ(rsm_memseg_import_close_barrier(h.barrier()), RSMERR_BARRIER_NOT_OPENED)
            << "close closes also when it fails";
    }
}

} // namespace

TEST_F(ImportAbort, I10_unpublish_while_mapped)
{
    memory.at(0) = 111;
    ImportSegment h(ctl, seg.id());
    ASSERT_EQ(h.init_barrier(), RSM_SUCCESS);
    ASSERT_EQ(h.map(memory.size()), RSM_SUCCESS);
    h.at(8) = 1;
    ASSERT_EQ(seg.unpublish(), RSM_SUCCESS);

    // No signal, nothing of the exporter, and our stores go nowhere.
    memory.at(16) = 222;
    for (std::size_t at = 0; at < memory.size(); at += 8)
        ASSERT_EQ(h.at(at), 0u) << at;
    for (std::size_t at = 0; at < memory.size(); at += 8)
        h.at(at) = 333;
    EXPECT_EQ(memory.at(0), 111u);
    EXPECT_EQ(memory.at(8), 1u);
    EXPECT_EQ(memory.at(16), 222u);
    expect_aborted(h);
    EXPECT_EQ(h.unmap(), RSM_SUCCESS);
    EXPECT_EQ(h.map(memory.size()), RSMERR_CONN_ABORTED);
    EXPECT_EQ(h.unmap(), RSMERR_SEG_NOT_MAPPED);
    expect_aborted(h);
    EXPECT_EQ(h.disconnect(), RSM_SUCCESS);
}

TEST_F(ImportAbort, I10_sticky_when_the_id_is_published_again)
{
    ASSERT_EQ(seg.unpublish(), RSM_SUCCESS);
    ASSERT_EQ(seg.publish(0x600020), RSM_SUCCESS);
    ImportSegment h(ctl, 0x600020);
    ASSERT_EQ(h.init_barrier(), RSM_SUCCESS);
    ASSERT_EQ(h.map(memory.size()), RSM_SUCCESS);
    ASSERT_EQ(seg.unpublish(), RSM_SUCCESS);
    ASSERT_EQ(seg.publish(0x600020), RSM_SUCCESS);
    memory.at(0) = 444;
    EXPECT_EQ(h.at(0), 0u) << "sees an export it never connected to";
    h.at(0) = 5;
    EXPECT_EQ(memory.at(0), 444u);
    expect_aborted(h);
    EXPECT_EQ(rsm_intr_signal_wait(static_cast<rsm_memseg_export_handle_t>(seg), 0), RSMERR_TIMEOUT);
    ASSERT_EQ(h.disconnect(), RSM_SUCCESS);
    ImportSegment anew(ctl, 0x600020);
    ASSERT_EQ(anew.map(memory.size()), RSM_SUCCESS);
    EXPECT_EQ(anew.at(0), 444u);
}

TEST_F(ImportAbort, I10_never_touched_before_the_abort)
{
    ImportSegment mapped(ctl, seg.id());
    ASSERT_EQ(mapped.init_barrier(), RSM_SUCCESS);
    ASSERT_EQ(mapped.map(memory.size()), RSM_SUCCESS);
    ImportSegment connected(ctl, seg.id());
    ASSERT_EQ(connected.init_barrier(), RSM_SUCCESS);
    memory.at(0) = 99;
    ASSERT_EQ(seg.unpublish(), RSM_SUCCESS);
    EXPECT_EQ(mapped.at(0), 0u) << "the first fault comes after the abort";
    expect_aborted(mapped);
    expect_aborted(connected);
    EXPECT_EQ(rsm_memseg_import_unmap(connected), RSMERR_SEG_NOT_MAPPED);
}

// More mappings than a line of the fake of /dev/rsm holds messages.
TEST_F(ImportAbort, I10_a_stopped_importer_delays_no_exporter)
{
    constexpr int mappings = 80;
    memory.at(0) = 111;
    Child importer([&](Link &link) {
        Controller own;
        std::list<ImportSegment> all;
        for (int i = 0; i < mappings; i++) {
            ImportSegment &h = all.emplace_back(own, seg.id());
            EXPECT_EQ(h.init_barrier(), RSM_SUCCESS);
            EXPECT_EQ(h.map(memory.size()), RSM_SUCCESS);
            EXPECT_EQ(h.at(0), 111u);
        }
        link.send();
        link.receive();
        // A call that the fake's agent answers: the importer has made its changes then.
        rsm_memseg_import_handle_t other = nullptr;
        EXPECT_EQ(rsm_memseg_import_connect(own, local_node(), seg.id(), RSM_PERM_RDWR, &other),
                  RSMERR_SEG_NOT_PUBLISHED);
        for (ImportSegment &h : all) {
            EXPECT_EQ(h.put64(8, 1), RSMERR_CONN_ABORTED);
            EXPECT_EQ(h.at(0), 0u);
        }
    });
    importer.receive();
    importer.stop();
    ASSERT_EQ(seg.unpublish(), RSM_SUCCESS);
    ASSERT_EQ(kill(importer.pid(), SIGCONT), 0);
    importer.send();
    importer.expect_success();
    EXPECT_EQ(memory.at(8), 0u);
}

// It makes no call that tells it: the fake shows it each memory in turn, and nothing at the end.
TEST_F(ImportAbort, I10_a_stopped_importer_that_only_loads_and_stores)
{
    constexpr int rebinds = 100;
    memory.at(0) = 111;
    Child importer([&](Link &link) {
        Controller own;
        ImportSegment h(own, seg.id());
        EXPECT_EQ(h.map(memory.size()), RSM_SUCCESS);
        EXPECT_EQ(h.at(0), 111u);
        link.send();
        while (h.at(0) != 0)
            std::this_thread::yield();
        h.at(8) = 77;
        EXPECT_EQ(h.at(0), 0u);
    });
    importer.receive();
    importer.stop();
    std::list<Pages> others;
    for (int i = 0; i < rebinds; i++) {
        Pages &other = others.emplace_back(page_count);
        other.at(0) = 222;
        ASSERT_EQ(rsm_memseg_export_rebind(seg, other.data(), 0, static_cast<off_t>(other.size())),
                  RSM_SUCCESS);
    }
    ASSERT_EQ(seg.unpublish(), RSM_SUCCESS);
    ASSERT_EQ(kill(importer.pid(), SIGCONT), 0);
    importer.expect_success();
    EXPECT_EQ(memory.at(8), 0u);
    for (Pages &other : others)
        EXPECT_EQ(other.at(8), 0u);
}

TEST_F(ImportAbort, I10_explicit_mode_tells_at_close)
{
    ImportSegment h(ctl, seg.id());
    ASSERT_EQ(h.init_barrier(), RSM_SUCCESS);
    ASSERT_EQ(h.explicit_mode(), RSM_SUCCESS);
    ASSERT_EQ(rsm_memseg_import_open_barrier(h.barrier()), RSM_SUCCESS);
    ASSERT_EQ(h.put64(0, 1), RSM_SUCCESS);
    ASSERT_EQ(seg.unpublish(), RSM_SUCCESS);
    const int put = h.put64(0, 2);
    EXPECT_TRUE(put == RSM_SUCCESS || put == RSMERR_CONN_ABORTED) << put;
    EXPECT_EQ(memory.at(0), 1u);
    EXPECT_EQ(rsm_memseg_import_order_barrier(h.barrier()), RSMERR_CONN_ABORTED);
    EXPECT_EQ(rsm_memseg_import_close_barrier(h.barrier()), RSMERR_CONN_ABORTED);
}

TEST_F(ImportAbort, I10_events_that_came_before)
{
    ImportSegment h(ctl, seg.id());
    auto *handle = static_cast<rsm_memseg_import_handle_t>(h);
    ASSERT_EQ(rsm_intr_signal_post(static_cast<rsm_memseg_export_handle_t>(seg), 0), RSM_SUCCESS);
    ASSERT_EQ(seg.unpublish(), RSM_SUCCESS);
    ASSERT_EQ(rsm_intr_signal_post(static_cast<rsm_memseg_export_handle_t>(seg), 0), RSM_SUCCESS);
    EXPECT_EQ(rsm_intr_signal_wait(handle, 0), RSM_SUCCESS);
    EXPECT_EQ(rsm_intr_signal_wait(handle, 0), RSMERR_TIMEOUT) << "a new one arrived";
}

TEST_F(ImportAbort, I10_protection_stays)
{
    ImportSegment h(ctl, seg.id(), RSM_PERM_READ);
    ASSERT_EQ(h.map(memory.size(), 0, RSM_PERM_READ), RSM_SUCCESS);
    ASSERT_EQ(seg.unpublish(), RSM_SUCCESS);
    EXPECT_EQ(h.at(0), 0u);
    EXPECT_NE(mprotect(h.base(), page_size(), PROT_READ | PROT_WRITE), 0);
    EXPECT_EXIT(h.at(0) = 1, testing::KilledBySignal(SIGSEGV), "");
}

TEST_F(ImportAbort, I11_fork_with_mapping)
{
    ImportSegment h(ctl, seg.id());
    ASSERT_EQ(h.init_barrier(), RSM_SUCCESS);
    ASSERT_EQ(h.map(memory.size()), RSM_SUCCESS);
    h.at(0) = 1;
    Child child([&](Link &link) {
        EXPECT_EQ(h.at(0), 1u);
        h.at(8) = 2;
        link.send();
        link.receive();
        EXPECT_EQ(h.at(16), 3u) << "the parent's store is not seen";
        EXPECT_EQ(h.at(page_size()), 4u) << "nor the exporter's";
        EXPECT_EQ(h.put64(24, 5), RSM_SUCCESS) << "an inherited handle works";
        EXPECT_EQ(rsm_intr_signal_post(static_cast<rsm_memseg_import_handle_t>(h), 0), RSM_SUCCESS);
    });
    child.receive();
    EXPECT_EQ(h.at(8), 2u);
    h.at(16) = 3;
    memory.at(page_size()) = 4;
    child.send();
    child.expect_success();
    EXPECT_EQ(h.at(24), 5u);
    EXPECT_EQ(memory.at(24), 5u);
    EXPECT_EQ(h.put64(32, 6), RSM_SUCCESS) << "the child's exit disturbed the parent";
    h.at(40) = 7;
    EXPECT_EQ(memory.at(40), 7u);
    EXPECT_EQ(rsm_intr_signal_wait(static_cast<rsm_memseg_export_handle_t>(seg), 0), RSM_SUCCESS);
}

TEST_F(ImportAbort, I11_disconnect_in_one_process_only)
{
    ImportSegment h(ctl, seg.id());
    ASSERT_EQ(h.init_barrier(), RSM_SUCCESS);
    ASSERT_EQ(h.map(memory.size()), RSM_SUCCESS);
    in_child([&] {
        EXPECT_EQ(h.unmap(), RSM_SUCCESS);
        EXPECT_EQ(h.disconnect(), RSM_SUCCESS);
    });
    h.at(0) = 1;
    EXPECT_EQ(memory.at(0), 1u);
    EXPECT_EQ(h.put64(8, 2), RSM_SUCCESS);
    Child child([&](Link &link) {
        link.receive();
        h.at(16) = 3;
        EXPECT_EQ(h.put64(24, 4), RSM_SUCCESS) << "the connection ended with the parent's handle";
        link.send();
        link.receive();
        EXPECT_EQ(h.put64(24, 5), RSMERR_CONN_ABORTED);
        EXPECT_EQ(h.at(16), 0u);
    });
    ASSERT_EQ(h.disconnect(), RSM_SUCCESS);
    child.send();
    child.receive();
    EXPECT_EQ(memory.at(16), 3u);
    EXPECT_EQ(memory.at(24), 4u);
    ASSERT_EQ(seg.unpublish(), RSM_SUCCESS);
    child.send();
    child.expect_success();
}
