// SPDX-License-Identifier: GPL-2.0
// A controller is removed while its users are busy.
#include "interconnects/testctl.hpp"
#include "support/hanging.hpp"

using namespace rsmtest;
using raw::status;
using raw::success;

namespace {

class Removal : public testing::Test {
protected:
    void SetUp() override { ASSERT_TRUE(module.loaded()); }
    static raw::Outcome bind(int fd, const Pages &pages)
    {
        auto argument =
            raw::bind_argument(pages.data(), pages.size(), RSM_ALLOW_REBIND, -1, "window0");
        return raw::call(fd, RSM_IOC_BIND, argument);
    }
    // On return window0 is gone.
    static void remove_window()
    {
        ASSERT_TRUE(write_text("/sys/module/rsm_testctl/parameters/remove_window", "1"));
    }
    TestControllers module;
};

} // namespace

TEST_F(Removal, does_not_wait_for_a_bind_that_hangs)
{
    const HangingPage page;
    const Fd handle = raw::open_segment();
    HangingCall call(page, [&] { return bind(handle.get(), page.map()); });
    remove_window();
    EXPECT_EQ(call.finish(), status(RSMERR_CTLR_NOT_PRESENT));
    call.leave();
    const Pages pages(1);
    EXPECT_EQ(raw::bind(handle.get(), pages.data(), pages.size()), success)
        << "a failed call changes nothing";
}

TEST_F(Removal, does_not_wait_for_a_rebind_that_hangs)
{
    const HangingPage page;
    HangingCall call(page, [&] {
        const Pages old(1);
        const Pages hanging = page.map();
        const Fd handle = raw::open_segment();
        EXPECT_EQ(bind(handle.get(), old), success);
        return raw::rebind(handle.get(), hanging.data(), hanging.size());
    });
    remove_window();
    EXPECT_EQ(call.finish(), status(RSMERR_BAD_SEG_HNDL));
    call.leave();
}
