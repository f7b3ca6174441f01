// SPDX-License-Identifier: GPL-2.0
// The promises of POLLRDHUP.
#include "support/loopback.hpp"

#include <poll.h>
#include <thread>

using namespace rsmtest;

// Large enough that taking the mapping away takes a while.
static constexpr std::size_t many_pages = 4096;

static void ask_until_ready(pollfd &entry)
{
    const Waiting waiting("POLLRDHUP");
    while (poll(&entry, 1, 0) != 1)
        continue;
}

// A process that is told of the disconnect can rely on the memory being out of reach.
TEST_F(LoopbackTest, POLLRDHUP_comes_after_the_memory_is_gone)
{
    Pages memory(many_pages);
    ExportSegment seg(ctl, memory);
    ASSERT_EQ(seg.status(), RSM_SUCCESS);
    const std::size_t last = memory.size() - sizeof(std::uint64_t);
    memory.at(last) = 7;
    for (int round = 0; round < 20; ++round) {
        ASSERT_EQ(seg.publish(), RSM_SUCCESS);
        ImportSegment imp(ctl, seg.id());
        ASSERT_EQ(imp.map(memory.size()), RSM_SUCCESS);
        for (std::size_t at = 0; at < memory.size(); at += page_size())
            ASSERT_EQ(imp.at(at), 0u);
        ASSERT_EQ(imp.at(last), 7u);
        pollfd entry{descriptor_of(static_cast<rsm_memseg_import_handle_t>(imp)), POLLRDHUP, 0};
        std::thread exporter([&] { EXPECT_EQ(seg.unpublish(), RSM_SUCCESS); });
        // Asking, not sleeping: a wake-up would come late enough in any case.
        ask_until_ready(entry);
        EXPECT_EQ(entry.revents, POLLRDHUP);
        EXPECT_EQ(imp.at(last), 0u) << "round " << round;
        exporter.join();
    }
}

// The exporter counts on it: nothing arrives from an importer that knows of its end.
TEST_F(LoopbackTest, who_was_told_of_the_end_does_not_post)
{
    Pages memory(many_pages);
    ExportSegment seg(ctl, memory);
    ASSERT_EQ(seg.status(), RSM_SUCCESS);
    for (int round = 0; round < 20; ++round) {
        ASSERT_EQ(seg.publish(), RSM_SUCCESS);
        ImportSegment imp(ctl, seg.id());
        ASSERT_EQ(imp.init_barrier(), RSM_SUCCESS);
        ASSERT_EQ(imp.map(memory.size()), RSM_SUCCESS);
        for (std::size_t at = 0; at < memory.size(); at += page_size())
            ASSERT_EQ(imp.at(at), 0u);
        std::thread exporter([&] { EXPECT_EQ(seg.unpublish(), RSM_SUCCESS); });
        std::uint64_t value = 0;
        int status = RSM_SUCCESS;
        while (status == RSM_SUCCESS)
            status = imp.get64(0, &value);
        EXPECT_EQ(rsm_intr_signal_post(static_cast<rsm_memseg_import_handle_t>(imp), 0),
                  RSMERR_CONN_ABORTED)
            << "round " << round;
        EXPECT_EQ(status, RSMERR_CONN_ABORTED);
        exporter.join();
        EXPECT_EQ(rsm_intr_signal_wait(static_cast<rsm_memseg_export_handle_t>(seg), 0),
                  RSMERR_TIMEOUT);
    }
}
