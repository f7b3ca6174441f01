// SPDX-License-Identifier: GPL-2.0
// An exporter whose segment lives in a window sees nothing of that: its pointers
// and its contents stay good.
#include "interconnects/testctl.hpp"
#include "support/unchanged.hpp"

#include <atomic>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/ipc.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <thread>

using namespace rsmtest;

namespace {

using WindowMemory = WindowTest;

std::ptrdiff_t count_of_mappings()
{
    std::ifstream maps("/proc/self/maps");
    std::string line;
    std::ptrdiff_t count = 0;
    while (std::getline(maps, line))
        count++;
    return count;
}

std::ptrdiff_t count_of_descriptors()
{
    const std::filesystem::directory_iterator all("/proc/self/fd");
    return std::distance(begin(all), end(all));
}

int status_of_export(const Controller &ctl, void *address, std::size_t length)
{
    return ExportSegment(ctl, address, length).status();
}

std::int64_t pinned_pages()
{
    return kernel_counters()["pinned_pages"];
}

} // namespace

TEST_F(WindowMemory, pointers_stay_good_both_ways)
{
    volatile std::uint64_t *const pointer = memory.pointer(8);
    *pointer = 77;
    ExportSegment seg(ctl, memory);
    ASSERT_EQ(seg.status(), RSM_SUCCESS);
    EXPECT_TRUE(holds_pattern(memory));
    ASSERT_EQ(seg.publish(), RSM_SUCCESS);
    ImportSegment imported(ctl, seg.id());
    ASSERT_EQ(imported.init_barrier(), RSM_SUCCESS);
    ASSERT_EQ(imported.map(memory.size()), RSM_SUCCESS);
    EXPECT_EQ(imported.at(8), 77u);
    *pointer = 78;
    EXPECT_EQ(imported.at(8), 78u);
    imported.at(8) = 79;
    EXPECT_EQ(*pointer, 79u);
    EXPECT_EQ(imported.put64(8, 80), RSM_SUCCESS);
    EXPECT_EQ(*pointer, 80u);
    *pointer = 81;
    std::uint64_t value = 0;
    EXPECT_EQ(imported.get64(8, &value), RSM_SUCCESS);
    EXPECT_EQ(value, 81u);
    ASSERT_EQ(seg.destroy(), RSM_SUCCESS);
    EXPECT_EQ(*pointer, 81u);
    EXPECT_TRUE(holds_pattern(memory));
    *pointer = 82;
    EXPECT_EQ(imported.at(8), 0u) << "an importer sees what came later";
}

// Ordinary memory afterwards: a forked child has a copy of its own, the kernel may
// pin it, and it can be exported again at once, through any controller.
TEST_F(WindowMemory, ordinary_after_destroy)
{
    const Controller loopback;
    const Controller *const turns[] = {&ctl, &loopback, &ctl};
    for (const Controller *controller : turns) {
        ExportSegment seg(*controller, memory);
        ASSERT_EQ(seg.status(), RSM_SUCCESS);
        ASSERT_EQ(seg.destroy(), RSM_SUCCESS);
        ASSERT_TRUE(holds_pattern(memory));
    }
    in_child([&] { memory.at() = 99; });
    EXPECT_EQ(memory.at(), 1u);
    EXPECT_EQ(mlock(memory.data(), memory.size()), 0);
    EXPECT_EQ(munlock(memory.data(), memory.size()), 0);
    EXPECT_EQ(madvise(memory.data(), memory.size(), MADV_DONTNEED), 0);
    EXPECT_EQ(memory.at(), 0u);
}

TEST_F(WindowMemory, part_of_a_larger_mapping)
{
    Pages large(6);
    std::memset(large.data(), 5, large.size());
    ExportSegment seg(ctl, large.data() + page_size(), 4 * page_size());
    ASSERT_EQ(seg.status(), RSM_SUCCESS);
    std::memset(large.data(), 6, large.size());
    ASSERT_EQ(seg.destroy(), RSM_SUCCESS);
    for (std::size_t at = 0; at < large.size(); at += sizeof(std::uint64_t))
        ASSERT_EQ(large.at(at), 0x0606060606060606u) << at;
}

TEST_F(WindowMemory, what_can_not_move_is_refused)
{
    const Unchanged unchanged;
    const std::size_t size = memory.size();
    ExportSegment seg(ctl, memory);
    ASSERT_EQ(seg.status(), RSM_SUCCESS);
    EXPECT_EQ(status_of_export(ctl, memory.data(), size), RSMERR_BAD_ADDR) << "exported already";
    EXPECT_EQ(status_of_export(Controller(), memory.data(), size), RSMERR_BAD_ADDR);
    const Pages shared(page_count, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS);
    EXPECT_EQ(status_of_export(ctl, shared.data(), size), RSMERR_BAD_ADDR);
    const Fd memfd(memfd_create("window", MFD_CLOEXEC));
    ASSERT_EQ(ftruncate(memfd.get(), static_cast<off_t>(size)), 0);
    const Pages file(page_count, PROT_READ | PROT_WRITE, MAP_SHARED, memfd.get());
    EXPECT_EQ(status_of_export(ctl, file.data(), size), RSMERR_BAD_ADDR);
    const int id = shmget(IPC_PRIVATE, size, 0600);
    ASSERT_GE(id, 0);
    void *attached = shmat(id, nullptr, 0);
    shmctl(id, IPC_RMID, nullptr);
    EXPECT_EQ(status_of_export(ctl, attached, size), RSMERR_BAD_ADDR);
    shmdt(attached);
    EXPECT_TRUE(holds_pattern(memory));
}

TEST_F(WindowMemory, huge_pages_are_refused)
{
    write_text("/proc/sys/vm/compact_memory", "1");
    ASSERT_TRUE(write_text("/proc/sys/vm/nr_hugepages", "1"));
    {
        const Pages pages(512, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB);
        EXPECT_TRUE(pages.valid());
        EXPECT_EQ(status_of_export(ctl, pages.data(), page_size()), RSMERR_BAD_ADDR);
    }
    EXPECT_TRUE(write_text("/proc/sys/vm/nr_hugepages", "0"));
}

TEST_F(WindowMemory, a_window_without_room)
{
    const Unchanged unchanged;
    Pages large(17);
    large.at(16 * page_size()) = 3;
    EXPECT_EQ(status_of_export(ctl, large.data(), large.size()), RSMERR_BAD_LENGTH);
    EXPECT_EQ(large.at(16 * page_size()), 3u);
}

// The mapping over the range fails when the address space may not grow.
TEST_F(WindowMemory, no_address_space_for_the_mapping)
{
    const Unchanged unchanged;
    in_child([&] {
        const ExportSegment first(ctl, memory); // librsm's own mappings are there now
        ASSERT_EQ(first.status(), RSM_SUCCESS);
        const Pages other(page_count);
        other.at() = 8;
        // Without malloc(), which gives memory back to the system when it likes.
        const Fd statm(open("/proc/self/statm", O_RDONLY | O_CLOEXEC));
        char line[128] = {};
        ASSERT_GT(read(statm.get(), line, sizeof(line) - 1), 0);
        const rlim_t pages = std::strtoull(line, nullptr, 10);
        const rlimit limit{(pages + 2) * page_size(), RLIM_INFINITY};
        ASSERT_EQ(setrlimit(RLIMIT_AS, &limit), 0);
        const int status = status_of_export(ctl, other.data(), other.size());
        const rlimit none{RLIM_INFINITY, RLIM_INFINITY};
        ASSERT_EQ(setrlimit(RLIMIT_AS, &none), 0);
        EXPECT_EQ(status, RSMERR_INSUFFICIENT_MEM);
        EXPECT_EQ(other.at(), 8u);
        EXPECT_EQ(status_of_export(ctl, other.data(), other.size()), RSM_SUCCESS);
    });
}

TEST_F(WindowMemory, charged_and_given_back)
{
    const auto before = pinned_pages();
    ExportSegment seg(ctl, memory, RSM_ALLOW_REBIND);
    EXPECT_EQ(pinned_pages(), before + 4);
    Pages other(page_count);
    ASSERT_EQ(rsm_memseg_export_rebind(seg, other.data(), 0, other.size()), RSM_SUCCESS);
    EXPECT_EQ(pinned_pages(), before + 4);
    ASSERT_EQ(seg.destroy(), RSM_SUCCESS);
    EXPECT_EQ(pinned_pages(), before);
    in_child_as(alice(), [&] {
        const rlimit limit{3 * page_size(), 3 * page_size()};
        ASSERT_EQ(setrlimit(RLIMIT_MEMLOCK, &limit), 0);
        EXPECT_EQ(status_of_export(ctl, memory.data(), 4 * page_size()), RSMERR_INSUFFICIENT_MEM);
        EXPECT_EQ(status_of_export(ctl, memory.data(), 3 * page_size()), RSM_SUCCESS);
        EXPECT_TRUE(holds_pattern(memory));
    });
}

TEST_F(WindowMemory, again_and_again)
{
    constexpr unsigned rounds = 200;
    const auto cycle = [&] {
        ExportSegment seg(ctl, memory, RSM_ALLOW_REBIND);
        ASSERT_EQ(seg.status(), RSM_SUCCESS);
        ASSERT_EQ(seg.publish(), RSM_SUCCESS);
        memory.at(8) = memory.at(8) + 1;
        ASSERT_EQ(seg.destroy(), RSM_SUCCESS);
    };
    cycle();
    const auto mappings = count_of_mappings();
    const auto descriptors = count_of_descriptors();
    const auto pinned = pinned_pages();
    for (unsigned i = 1; i < rounds && !HasFatalFailure(); i++)
        cycle();
    // malloc() may have mapped something, too; a leak is one for each cycle.
    EXPECT_LT(count_of_mappings(), mappings + 10);
    EXPECT_EQ(count_of_descriptors(), descriptors);
    EXPECT_EQ(pinned_pages(), pinned);
    EXPECT_EQ(memory.at(8), rounds);
    EXPECT_TRUE(holds_pattern(memory));
}

// The export ends, or never is; the program goes on.
TEST_F(WindowMemory, another_thread_unmaps_the_range)
{
    constexpr int rounds = 100;
    std::atomic<int> turn{0};
    std::atomic<int> done{0};
    Pages range(page_count);
    std::byte *const start = range.data();
    std::thread other([&] {
        for (int round = 1; round <= rounds; round++) {
            while (turn != round)
                std::this_thread::yield();
            munmap(start, range.size());
            done = round;
        }
    });
    for (int round = 1; round <= rounds; round++) {
        ASSERT_NE(mmap(start, range.size(), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
                  MAP_FAILED);
        turn = round;
        ExportSegment seg(ctl, start, range.size(), RSM_ALLOW_REBIND);
        if (seg.status() == RSM_SUCCESS)
            rsm_memseg_export_rebind(seg, memory.data(), 0, memory.size());
        // Not later: by then something else may lie in the hole.
        while (done != round)
            std::this_thread::yield();
        if (seg.status() == RSM_SUCCESS) {
            EXPECT_EQ(seg.destroy(), RSM_SUCCESS);
        }
    }
    other.join();
    EXPECT_TRUE(holds_pattern(memory));
}

// Contents before a call are the contents after it, and no access faults meanwhile.
TEST_F(WindowMemory, other_threads_use_the_range_all_the_time)
{
    std::atomic<bool> stop{false};
    std::atomic<int> torn{0};
    std::thread reader([&] {
        while (!stop)
            torn += holds_pattern(memory) ? 0 : 1;
    });
    std::thread writer([&] {
        while (!stop) {
            for (std::size_t i = 0; i < page_count; i++)
                memory.at(i * page_size() + 16) = 1;
        }
    });
    for (std::uint64_t round = 1; round <= 100; round++) {
        memory.at(24) = round;
        ExportSegment seg(ctl, memory);
        EXPECT_EQ(seg.status(), RSM_SUCCESS);
        EXPECT_EQ(memory.at(24), round);
        memory.at(32) = round;
        EXPECT_EQ(seg.destroy(), RSM_SUCCESS);
        EXPECT_EQ(memory.at(32), round);
    }
    stop = true;
    reader.join();
    writer.join();
    EXPECT_EQ(torn, 0);
}

// Memory for putv and getv stays where it is, whatever the controller.
TEST_F(WindowMemory, local_memory_does_not_move)
{
    ExportSegment seg(ctl, memory);
    ASSERT_EQ(seg.publish(), RSM_SUCCESS);
    ImportSegment imported(ctl, seg.id());
    ASSERT_EQ(imported.init_barrier(), RSM_SUCCESS);
    const Pages shared(1, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS);
    shared.at(64) = 123;
    rsm_localmemory_handle_t local = nullptr;
    ASSERT_EQ(rsm_create_localmemory_handle(ctl, &local, reinterpret_cast<caddr_t>(shared.data()),
                                            shared.size()),
              RSM_SUCCESS)
        << "shared memory could not move, but need not";
    rsm_iovec_t entry{};
    entry.io_type = RSM_HANDLE_TYPE;
    entry.local.handle = local;
    entry.local_offset = 64;
    entry.remote_offset = 8;
    entry.transfer_length = 8;
    memory.at(64) = 321;
    rsm_scat_gath_t request{};
    request.io_request_count = 1;
    request.remote_handle = imported;
    request.iovec = &entry;
    EXPECT_EQ(rsm_memseg_import_putv(&request), RSM_SUCCESS);
    EXPECT_EQ(memory.at(8), 123u);
    EXPECT_EQ(rsm_free_localmemory_handle(ctl, local), RSM_SUCCESS);
    entry.io_type = RSM_VA_TYPE;
    entry.local.vaddr = memory.pointer<char>();
    EXPECT_EQ(rsm_memseg_import_putv(&request), RSM_SUCCESS) << "exported memory by address";
    EXPECT_EQ(memory.at(8), memory.at(64));
    EXPECT_EQ(rsm_create_localmemory_handle(ctl, &local, reinterpret_cast<caddr_t>(memory.data()),
                                            memory.size()),
              RSMERR_BAD_ADDR)
        << "exported memory";
}
