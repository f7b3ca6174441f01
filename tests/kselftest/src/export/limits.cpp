// SPDX-License-Identifier: GPL-2.0
// Limits on locked memory and on segments: E17 and RLIMIT_MEMLOCK.
#include "support/loopback.hpp"
#include "support/memlock.hpp"
#include "support/raw.hpp"
#include "support/sequel.hpp"
#include "support/unchanged.hpp"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <sched.h>
#include <string>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>

using namespace rsmtest;

namespace {

using ExportLimits = LoopbackTest;

constexpr std::size_t room_before_exec = 4;

// A process that shares the caller's address space, which goes on living when the caller executes
// another program. It ends with the caller.
pid_t keep_address_space()
{
    alignas(16) static std::byte stack[64 << 10];
    return clone(
        [](void *) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            for (;;)
                pause();
            return 0;
        },
        stack + sizeof(stack), CLONE_VM | SIGCHLD, nullptr);
}

// The former address space has locked all that a process may, and so does the new one.
int rebind_in_another_address_space()
{
    const int old = std::atoi(std::getenv("RSM_TEST_SEGMENT"));
    const Pages memory(room_before_exec), other(room_before_exec);
    Fd seg = raw::open_segment();
    EXPECT_EQ(raw::bind(seg.get(), memory.data(), memory.size()), raw::success);
    EXPECT_EQ(raw::rebind(old, other.data(), other.size()), raw::status(RSMERR_INSUFFICIENT_MEM));
    seg.reset();
    EXPECT_EQ(raw::rebind(old, other.data(), other.size()), raw::success) << "there is room now";
    return testing::Test::HasFailure() ? EXIT_FAILURE : EXIT_SUCCESS;
}

const Sequel rebind_after_exec("rebind after exec", rebind_in_another_address_space);

} // namespace

TEST_F(ExportLimits, E17_max_exported_memory)
{
    ModuleParameter parameter("max_exported_memory");
    if (!parameter.writable())
        GTEST_SKIP() << "max_exported_memory is not writable here";
    Unchanged unchanged;
    ASSERT_TRUE(parameter.set("1"));
    const std::size_t total = memory_info("MemTotal");
    const std::size_t percent_pages = total / 100 / page_size();
    // One is certainly below, and one certainly above one percent.
    Pages below(percent_pages * 8 / 10);
    Pages above(percent_pages * 13 / 10);
    {
        ExportSegment refused(ctl, above);
        EXPECT_EQ(refused.status(), RSMERR_INSUFFICIENT_MEM);
    }
    for (int round = 0; round < 3; round++) {
        ExportSegment first(ctl, below, RSM_ALLOW_REBIND);
        EXPECT_EQ(first.status(), RSM_SUCCESS) << "the count was not returned";
        ExportSegment second(ctl, above.data(), below.size());
        EXPECT_EQ(second.status(), RSMERR_INSUFFICIENT_MEM) << "all exports count together";
        EXPECT_EQ(rsm_memseg_export_rebind(first, above.data(), 0, below.size()), RSM_SUCCESS)
            << "a rebind needs no more room than the export has";
        rsm_localmemory_handle_t local = nullptr;
        const int result = rsm_create_localmemory_handle(
            ctl, &local, reinterpret_cast<caddr_t>(above.data()), below.size());
        EXPECT_TRUE(result == RSMERR_INSUFFICIENT_MEM || result == RSM_SUCCESS) << result;
        if (result == RSM_SUCCESS) {
            EXPECT_EQ(rsm_free_localmemory_handle(ctl, local), RSM_SUCCESS);
        }
    }
    ASSERT_TRUE(parameter.set("0"));
    ExportSegment unlimited(ctl, above);
    EXPECT_EQ(unlimited.status(), RSM_SUCCESS);
}

TEST_F(ExportLimits, E17_bad_values_of_the_parameter)
{
    ModuleParameter parameter("max_exported_memory");
    if (!parameter.writable())
        GTEST_SKIP() << "max_exported_memory is not writable here";
    const auto before = read_line("/sys/module/rsm/parameters/max_exported_memory");
    for (const char *value : {"-1", "101", "many", ""})
        EXPECT_FALSE(parameter.set(value) && *value) << value;
    EXPECT_EQ(read_line("/sys/module/rsm/parameters/max_exported_memory"), before);
}

TEST_F(ExportLimits, E17_memlock_limit)
{
    Unchanged unchanged;
    in_child_as(alice(), [] {
        limit_locked_pages(16);
        Controller controller;
        Pages memory(16);
        Pages more(17);
        EXPECT_EQ(ExportSegment(controller, more).status(), RSMERR_INSUFFICIENT_MEM);
        for (int round = 0; round < 3; round++) {
            ExportSegment seg(controller, memory, RSM_ALLOW_REBIND);
            EXPECT_EQ(seg.status(), RSM_SUCCESS) << "the count was not returned";
            EXPECT_EQ(ExportSegment(controller, more.data(), page_size()).status(),
                      RSMERR_INSUFFICIENT_MEM);
            EXPECT_EQ(rsm_memseg_export_rebind(seg, more.data(), 0, memory.size()), RSM_SUCCESS)
                << "a rebind needs no more room than the export has";
            EXPECT_EQ(ExportSegment(controller, memory.data(), page_size()).status(),
                      RSMERR_INSUFFICIENT_MEM)
                << "the rebind is not charged";
        }
        ExportSegment seg(controller, memory.data(), 8 * page_size(), RSM_ALLOW_REBIND);
        EXPECT_EQ(seg.status(), RSM_SUCCESS);
        for (int round = 0; round < 10; round++)
            EXPECT_EQ(rsm_memseg_export_rebind(seg, (round % 2 ? memory : more).data(), 0,
                                               8 * page_size()),
                      RSM_SUCCESS)
                << "rebind does not return the old pages";
    });
}

// The room of an export is lent to a rebind in the address space that the export is charged to.
TEST_F(ExportLimits, E17_memlock_limit_counts_a_rebind_after_exec)
{
    in_child_as(alice(), [] {
        limit_locked_pages(room_before_exec);
        const Pages memory(room_before_exec);
        const Fd seg = raw::open_segment();
        ASSERT_EQ(raw::bind(seg.get(), memory.data(), memory.size(), RSM_ALLOW_REBIND), raw::success);
        ASSERT_EQ(fcntl(seg.get(), F_SETFD, 0), 0);
        setenv("RSM_TEST_SEGMENT", std::to_string(seg.get()).c_str(), 1);
        ASSERT_GT(keep_address_space(), 0);
        rebind_after_exec.exec();
        FAIL() << "exec failed";
    });
}

TEST_F(ExportLimits, E17_memlock_limit_counts_per_user)
{
    // The charge of one handle must go away with the process that made it,
    // also when it is killed.
    for (int round = 0; round < 3; round++) {
        Child holder(alice(), [](Link &link) {
            limit_locked_pages(8);
            Controller controller;
            Pages memory(8);
            ExportSegment seg(controller, memory);
            link.send(static_cast<std::uint64_t>(seg.status()));
            link.receive();
        });
        EXPECT_EQ(holder.receive(), static_cast<std::uint64_t>(RSM_SUCCESS));
        holder.kill();
    }
}

TEST_F(ExportLimits, E17_cap_ipc_lock_has_no_limit)
{
    Unchanged unchanged;
    in_child([] {
        limit_locked_pages(0);
        Controller controller;
        Pages memory(16);
        EXPECT_EQ(ExportSegment(controller, memory).status(), RSM_SUCCESS);

        drop_ipc_lock();
        EXPECT_EQ(ExportSegment(controller, memory).status(), RSMERR_INSUFFICIENT_MEM);
    });
}

TEST_F(ExportLimits, E17_max_segments)
{
    ModuleParameter parameter("max_segments");
    if (!parameter.writable())
        GTEST_SKIP() << "max_segments is not writable here";
    const std::int64_t handles = kernel_counters()["handles"];
    ASSERT_TRUE(parameter.set(std::to_string(handles + 1)));
    Pages memory(1);
    ExportSegment first(ctl, memory);
    EXPECT_EQ(first.status(), RSM_SUCCESS);
    EXPECT_EQ(ExportSegment(ctl, memory).status(), RSMERR_INSUFFICIENT_RESOURCES);
    ASSERT_EQ(first.publish(), RSM_SUCCESS);
    EXPECT_EQ(ImportSegment(ctl, first.id()).status(), RSMERR_INSUFFICIENT_RESOURCES);
    EXPECT_EQ(first.destroy(), RSM_SUCCESS);
    EXPECT_EQ(ExportSegment(ctl, memory).status(), RSM_SUCCESS);
}

TEST_F(ExportLimits, E17_descriptor_limit)
{
    in_child([] {
        Controller controller;
        Pages memory(1);
        ExportSegment seg(controller, memory);
        ASSERT_EQ(seg.publish(), RSM_SUCCESS);
        const int used = dup(0);
        close(used);
        std::vector<Fd> filler;
        rlimit limit{64, 64};
        ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
        for (;;) {
            Fd one(dup(0));
            if (!one.valid())
                break;
            filler.push_back(std::move(one));
        }
        EXPECT_EQ(ExportSegment(controller, memory).status(), RSMERR_INSUFFICIENT_RESOURCES);
        EXPECT_EQ(ImportSegment(controller, seg.id()).status(), RSMERR_INSUFFICIENT_RESOURCES);
        std::thread([] {
            EXPECT_LT(open("/dev/rsm", O_RDWR | O_CLOEXEC), 0);
            EXPECT_EQ(errno, EMFILE) << "in the first call of a thread";
        }).join();
        // Below 256 when the limit leaves no choice.
        filler.clear();
        ExportSegment low(controller, memory);
        EXPECT_EQ(low.status(), RSM_SUCCESS);
        const int fd = descriptor_of(static_cast<rsm_memseg_export_handle_t>(low));
        EXPECT_GE(fd, 3);
        EXPECT_LT(fd, 64);
    });
}

TEST_F(ExportLimits, E17_descriptors_start_at_256)
{
    Pages memory(1);
    ExportSegment seg(ctl, memory);
    EXPECT_GE(descriptor_of(static_cast<rsm_memseg_export_handle_t>(seg)), 256);
    ASSERT_EQ(seg.publish(), RSM_SUCCESS);
    ImportSegment imported(ctl, seg.id());
    EXPECT_GE(descriptor_of(static_cast<rsm_memseg_import_handle_t>(imported)), 256);
}
