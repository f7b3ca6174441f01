// SPDX-License-Identifier: GPL-2.0
// A controller is removed while its users are busy.
#include "interconnects/testctl.hpp"
#include "support/hanging.hpp"

#include <atomic>
#include <cstdlib>
#include <string>
#include <sys/mount.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace rsmtest;
using raw::status;
using raw::success;

namespace {

class Removal : public testing::Test {
protected:
    void SetUp() override { ASSERT_TRUE(module.loaded()); }
    static bool keep_import(const char *what)
    {
        return write_text("/sys/module/rsm_testctl/parameters/keep", what);
    }
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

// A device node, and its file system, that go with the last open.
TEST_F(Removal, an_import_is_aborted_when_the_node_of_its_handle_is_gone)
{
    struct stat device{};
    ASSERT_EQ(stat("/dev/rsm", &device), 0);
    const std::string dir = "/tmp/rsm-node";
    const std::string node = dir + "/rsm";
    mkdir(dir.c_str(), 0700);
    ASSERT_EQ(mount("node", dir.c_str(), "tmpfs", 0, nullptr), 0);
    ASSERT_EQ(mknod(node.c_str(), S_IFCHR | 0600, device.st_rdev), 0);
    Fd importer{open(node.c_str(), O_RDWR | O_CLOEXEC)};
    ASSERT_TRUE(importer.valid());
    const Pages pages(1);
    const Fd exporter = raw::open_segment();
    std::uint32_t id = 0;
    ASSERT_EQ(raw::bind(exporter.get(), pages.data(), pages.size()), success);
    ASSERT_EQ(raw::publish(exporter.get(), id), success);
    auto argument = raw::connect_argument(id, RSM_PERM_RDWR, -1, "nomap0");
    ASSERT_EQ(raw::call(importer.get(), RSM_IOC_CONNECT, argument), success);
    ASSERT_TRUE(keep_import("next"));
    importer.reset();
    EXPECT_EQ(umount(dir.c_str()), 0);
    rmdir(dir.c_str());
    EXPECT_TRUE(keep_import("abort"));
}

// A transfer that hangs keeps the memory of a local handle that is closed, and the module whose functions reach it.
TEST_F(Removal, memory_in_a_transfer_holds_its_module)
{
    const auto holders = [] { return std::stoi(read_line("/sys/module/rsm_testctl/refcnt").value()); };
    const HangingPage page;
    const Pages hanging = page.map(), pages(1);
    const raw::Published published(2);
    const Fd imported = raw::open_segment();
    ASSERT_EQ(raw::connect(imported.get(), published.id), success);
    const int before = holders();
    Fd local = raw::open_segment();
    ASSERT_EQ(bind(local.get(), pages), success);
    rsm_transfer_entry entries[] = {raw::entry(hanging.data(), 0, 8), raw::entry(nullptr, 8, 8)};
    entries[1].type = RSM_HANDLE_TYPE;
    entries[1].fd = local.get();
    raw::Outcome outcome;
    std::thread caller([&] { outcome = raw::transfer(imported.get(), RSM_IOC_PUTV, entries, 0); });
    page.wait();
    local.reset();
    EXPECT_EQ(holders(), before + 1);
    page.give();
    caller.join();
    EXPECT_EQ(outcome, success);
    EXPECT_EQ(holders(), before);
}

// The kernel frees a module whose initialization fails, whoever has a reference.
TEST(Loading, controller_of_a_module_that_may_fail_to_load_has_no_users)
{
    std::atomic<bool> over = false;
    std::thread loader([&] {
        EXPECT_NE(std::system("modprobe rsm_testctl hold_init=1 fail_init=1 2>/dev/null"), 0);
        over = true;
    });
    EXPECT_TRUE(eventually([] { return access("/sys/module/rsm_testctl/parameters/held", F_OK) == 0; }));
    await_held();
    {
        const Pages pages(1);
        const Fd handle = raw::open_segment();
        auto argument = raw::bind_argument(pages.data(), pages.size(), 0, -1, "window0");
        EXPECT_EQ(raw::call(handle.get(), RSM_IOC_BIND, argument), status(RSMERR_CTLR_NOT_PRESENT));
    }
    // Busybox tries again by the older system call.
    eventually([&] {
        set_parameter("hold_init", "0");
        return over.load();
    });
    loader.join();
    EXPECT_NE(access("/sys/module/rsm_testctl", F_OK), 0);
}
