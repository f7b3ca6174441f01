// SPDX-License-Identifier: GPL-2.0
// A page of the caller's that does not come holds up nobody but the caller.
#include "interconnects/testctl.hpp"
#include "support/hanging.hpp"

#include <poll.h>

using namespace rsmtest;
using raw::status;
using raw::success;

namespace {

constexpr std::uint32_t the_id = 0x600090;

// The exporter has memory that this process can take away without its mmap_lock.
class UapiHanging : public testing::Test {
protected:
    void SetUp() override
    {
        ASSERT_TRUE(module.loaded());
        ASSERT_EQ(ftruncate(memory.get(), static_cast<off_t>(page_size())), 0);
    }
    Pages map_memory() const
    {
        return Pages(1, PROT_READ | PROT_WRITE, MAP_SHARED, memory.get());
    }
    // In the exporter: the memory is published, then rebound to the page that hangs.
    raw::Outcome rebind() const
    {
        const Pages old = map_memory();
        const Pages hanging = page.map();
        std::uint32_t id = the_id;
        EXPECT_EQ(raw::bind(exporter.get(), old.data(), old.size(), RSM_ALLOW_REBIND), success);
        EXPECT_EQ(raw::publish(exporter.get(), id), success);
        return raw::rebind(exporter.get(), hanging.data(), hanging.size());
    }
    void lose_memory() const { ASSERT_EQ(ftruncate(memory.get(), 0), 0); }
    // An importer's: waits for the end of the connection.
    static void wait_for_abort(int importer)
    {
        pollfd entry{importer, POLLRDHUP, 0};
        EXPECT_EQ(poll(&entry, 1, -1), 1);
    }
    TestControllers module;
    const Fd memory{memfd_create("exported", MFD_CLOEXEC)};
    const HangingPage page;
    const Fd exporter = raw::open_segment();
    const Fd importer = raw::open_segment();
};

} // namespace

TEST_F(UapiHanging, rebind_works_when_the_page_has_come)
{
    HangingCall call(page, [this] { return rebind(); });
    ASSERT_EQ(raw::connect(importer.get(), the_id), success);
    EXPECT_EQ(call.finish(), success);
    call.leave();
    wait_for_abort(importer.get());
}

TEST_F(UapiHanging, importers_are_told_of_a_lost_range_during_a_rebind)
{
    HangingCall call(page, [this] { return rebind(); });
    ASSERT_EQ(raw::connect(importer.get(), the_id), success);
    lose_memory();
    wait_for_abort(importer.get());
    EXPECT_EQ(call.finish(), status(RSMERR_BAD_SEG_HNDL));
    call.leave();
}

// The first page is pinned, and lost, before the export has its range.
TEST_F(UapiHanging, a_page_that_goes_while_another_is_awaited_ends_the_export)
{
    HangingCall call(page, [this] {
        std::uint32_t id = the_id;
        const Pages range(2);
        EXPECT_NE(mmap(range.data(), page_size(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                       memory.get(), 0),
                  MAP_FAILED);
        EXPECT_TRUE(page.map_at(range.data() + page_size()));
        const auto outcome = raw::bind(exporter.get(), range.data(), range.size());
        // The kernel looks at the range in its own time, unless it has refused it.
        while (outcome == success && raw::publish(exporter.get(), id) == success)
            raw::unpublish(exporter.get());
        return outcome == success ? raw::publish(exporter.get(), id) : outcome;
    });
    lose_memory();
    const auto outcome = call.finish();
    EXPECT_TRUE(outcome == status(RSMERR_BAD_SEG_HNDL) || outcome == status(RSMERR_BAD_ADDR))
        << outcome;
    call.leave();
}
