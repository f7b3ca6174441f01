// SPDX-License-Identifier: GPL-2.0
// Creating an export segment: E1 to E3, E16.
#include "support/loopback.hpp"
#include "support/unchanged.hpp"

#include <fcntl.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <unistd.h>

using namespace rsmtest;

namespace {

class ExportCreate : public LoopbackTest {
protected:
    // Creates and, if that works, destroys; the handle must be NULL after a failure.
    int create(void *address, std::size_t length, uint_t flags = 0)
    {
        auto handle = reinterpret_cast<rsm_memseg_export_handle_t>(0x1234);
        const int result = rsm_memseg_export_create(ctl, &handle, address, length, flags);
        if (result == RSM_SUCCESS) {
            EXPECT_EQ(rsm_memseg_export_destroy(handle), RSM_SUCCESS);
        } else {
            EXPECT_EQ(handle, nullptr);
        }
        return result;
    }
};

Fd temporary_file(std::size_t bytes)
{
    char name[] = "/tmp/rsm-export.XXXXXX";
    Fd file(mkstemp(name));
    EXPECT_TRUE(file.valid());
    unlink(name);
    EXPECT_EQ(ftruncate(file.get(), static_cast<off_t>(bytes)), 0);
    return file;
}

} // namespace

TEST_F(ExportCreate, E1_argument_errors_in_order)
{
    Unchanged unchanged;
    const Pages memory(2);
    const std::size_t page = page_size();
    void *odd = memory.data() + 1;
    rsm_memseg_export_handle_t handle = nullptr;

    EXPECT_EQ(rsm_memseg_export_create(nullptr, nullptr, nullptr, 0, 0), RSMERR_BAD_CTLR_HNDL);
    EXPECT_EQ(rsm_memseg_export_create(nullptr, &handle, memory.data(), page, 0),
              RSMERR_BAD_CTLR_HNDL);
    EXPECT_EQ(rsm_memseg_export_create(ctl, nullptr, nullptr, 0, 0), RSMERR_BAD_SEG_HNDL);
    EXPECT_EQ(rsm_memseg_export_create(ctl, nullptr, memory.data(), page, 0), RSMERR_BAD_SEG_HNDL);
    EXPECT_EQ(create(nullptr, 0), RSMERR_BAD_ADDR);
    EXPECT_EQ(create(nullptr, 1), RSMERR_BAD_ADDR);
    EXPECT_EQ(create(nullptr, page), RSMERR_BAD_ADDR);
    EXPECT_EQ(create(odd, 0), RSMERR_BAD_LENGTH);
    EXPECT_EQ(create(memory.data(), 0), RSMERR_BAD_LENGTH);
    EXPECT_EQ(create(odd, 1), RSMERR_BAD_MEM_ALIGNMENT);
}

TEST_F(ExportCreate, E1_unknown_flags_are_ignored)
{
    const Pages memory(1);
    EXPECT_EQ(create(memory.data(), memory.size(), ~0u), RSM_SUCCESS);
    EXPECT_EQ(create(memory.data(), memory.size(), RSM_CREATE_SEG_DONTWAIT), RSM_SUCCESS);
}

TEST_F(ExportCreate, E2_misalignment)
{
    Unchanged unchanged;
    const Pages memory(4);
    const std::size_t page = page_size();
    for (const std::size_t off : {std::size_t{1}, std::size_t{8}, page / 2, page - 1}) {
        EXPECT_EQ(create(memory.data() + off, page), RSMERR_BAD_MEM_ALIGNMENT) << off;
        EXPECT_EQ(create(memory.data(), page + off), RSMERR_BAD_MEM_ALIGNMENT) << off;
        EXPECT_EQ(create(memory.data(), off), RSMERR_BAD_MEM_ALIGNMENT) << off;
    }
}

TEST_F(ExportCreate, E3_unmapped)
{
    Unchanged unchanged;
    const std::size_t page = page_size();
    const Pages memory(4);
    ASSERT_EQ(munmap(memory.data() + page, page), 0);
    EXPECT_EQ(create(memory.data() + page, page), RSMERR_BAD_ADDR);
    EXPECT_EQ(create(memory.data(), 4 * page), RSMERR_BAD_ADDR) << "hole in the middle";
    EXPECT_EQ(create(memory.data(), 2 * page), RSMERR_BAD_ADDR) << "hole at the end";
    EXPECT_EQ(create(memory.data(), page), RSM_SUCCESS);
}

TEST_F(ExportCreate, E3_ranges_that_wrap)
{
    Unchanged unchanged;
    const Pages memory(1);
    const std::size_t huge = ~std::size_t{0} & ~(page_size() - 1);
    for (const std::size_t length : {huge, huge / 2 + 1, std::size_t{1} << 47, std::size_t{1} << 62}) {
        const int result = create(memory.data(), length & ~(page_size() - 1));
        EXPECT_TRUE(result == RSMERR_BAD_ADDR || result == RSMERR_BAD_LENGTH)
            << length << ": " << result;
    }
    void *kernel = reinterpret_cast<void *>(0xffff888000000000UL);
    EXPECT_EQ(create(kernel, page_size()), RSMERR_BAD_ADDR);
}

TEST_F(ExportCreate, E3_protection)
{
    Unchanged unchanged;
    for (const int protection : {PROT_READ, PROT_WRITE, PROT_NONE}) {
        const Pages memory(2);
        memory.at(0) = 1;
        ASSERT_EQ(mprotect(memory.data(), page_size(), protection), 0);
        EXPECT_EQ(create(memory.data(), page_size()), RSMERR_PERM_DENIED) << protection;
        EXPECT_EQ(create(memory.data(), memory.size()), RSMERR_PERM_DENIED) << protection;
        ASSERT_EQ(mprotect(memory.data(), page_size(), PROT_READ | PROT_WRITE), 0);
        EXPECT_EQ(create(memory.data(), memory.size()), RSM_SUCCESS);
    }
}

TEST_F(ExportCreate, E3_shared_file)
{
    Unchanged unchanged;
    const Fd file = temporary_file(2 * page_size());
    const Pages memory(2, PROT_READ | PROT_WRITE, MAP_SHARED, file.get());
    ASSERT_TRUE(memory.valid());
    EXPECT_EQ(create(memory.data(), memory.size()), RSMERR_BAD_ADDR);
    // also when only the last page is one
    const Pages mixed(2);
    ASSERT_NE(mmap(mixed.data() + page_size(), page_size(), PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_FIXED, file.get(), 0),
              MAP_FAILED);
    EXPECT_EQ(create(mixed.data(), mixed.size()), RSMERR_BAD_ADDR);
}

TEST_F(ExportCreate, E3_private_file)
{
    const Fd file = temporary_file(page_size());
    const std::uint64_t before = 42;
    ASSERT_EQ(pwrite(file.get(), &before, sizeof(before), 0), 8);
    const Pages memory(1, PROT_READ | PROT_WRITE, MAP_PRIVATE, file.get());
    ASSERT_TRUE(memory.valid());
    ExportSegment seg(ctl, memory);
    ASSERT_EQ(seg.status(), RSM_SUCCESS);
    ASSERT_EQ(seg.publish(), RSM_SUCCESS);
    ImportSegment imported(ctl, seg.id());
    ASSERT_EQ(imported.map(page_size()), RSM_SUCCESS);
    EXPECT_EQ(imported.at(), 42u);
    imported.at() = 43;
    EXPECT_EQ(memory.at(), 43u);
    std::uint64_t in_file = 0;
    EXPECT_EQ(pread(file.get(), &in_file, sizeof(in_file), 0), 8);
    EXPECT_EQ(in_file, 42u) << "an importer wrote to the exporter's file";
}

TEST_F(ExportCreate, E3_anonymous_heap_and_system_v)
{
    const Pages shared(2, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS);
    EXPECT_EQ(create(shared.data(), shared.size()), RSM_SUCCESS);

    void *heap = std::aligned_alloc(page_size(), 8 * page_size());
    ASSERT_NE(heap, nullptr);
    EXPECT_EQ(create(heap, 8 * page_size()), RSM_SUCCESS);
    std::free(heap);

    const int segment = shmget(IPC_PRIVATE, 4 * page_size(), IPC_CREAT | 0600);
    ASSERT_GE(segment, 0);
    void *attached = shmat(segment, nullptr, 0);
    shmctl(segment, IPC_RMID, nullptr);
    ASSERT_NE(attached, reinterpret_cast<void *>(-1));
    {
        ExportSegment seg(ctl, attached, 4 * page_size());
        ASSERT_EQ(seg.status(), RSM_SUCCESS);
        ASSERT_EQ(seg.publish(), RSM_SUCCESS);
        ImportSegment imported(ctl, seg.id());
        ASSERT_EQ(imported.map(4 * page_size()), RSM_SUCCESS);
        static_cast<volatile std::uint64_t *>(attached)[100] = 5;
        EXPECT_EQ(imported.at(800), 5u);
        imported.at(3 * page_size()) = 6;
        EXPECT_EQ(static_cast<volatile std::uint64_t *>(attached)[3 * page_size() / 8], 6u);
    }
    shmdt(attached);
}

TEST_F(ExportCreate, E3_range_over_several_mappings)
{
    const Pages memory(4);
    ASSERT_NE(mmap(memory.data() + page_size(), page_size(), PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
              MAP_FAILED);
    EXPECT_EQ(create(memory.data(), memory.size()), RSM_SUCCESS);
}

TEST_F(ExportCreate, E3_same_range_through_several_handles)
{
    const Pages memory(2);
    ExportSegment first(ctl, memory);
    ExportSegment second(ctl, memory);
    ASSERT_EQ(first.status(), RSM_SUCCESS);
    ASSERT_EQ(second.status(), RSM_SUCCESS);
    ASSERT_EQ(first.publish(), RSM_SUCCESS);
    ASSERT_EQ(second.publish(), RSM_SUCCESS);
    EXPECT_NE(first.id(), second.id());
    ImportSegment a(ctl, first.id());
    ImportSegment b(ctl, second.id());
    ASSERT_EQ(a.map(page_size()), RSM_SUCCESS);
    ASSERT_EQ(b.map(page_size()), RSM_SUCCESS);
    a.at(16) = 9;
    EXPECT_EQ(b.at(16), 9u);
    EXPECT_EQ(first.destroy(), RSM_SUCCESS);
    b.at(16) = 10;
    EXPECT_EQ(memory.at(16), 10u);
    EXPECT_EQ(a.at(16), 0u);
}

TEST_F(ExportCreate, E16_more_than_two_gibibytes)
{
    constexpr std::size_t gibibyte = std::size_t{1} << 30;
    if (memory_info("MemAvailable") < 3 * gibibyte)
        GTEST_SKIP() << "less than 3 GiB of memory available";
    const std::size_t length = 2 * gibibyte + 2 * page_size();
    const Pages memory(length / page_size());
    ASSERT_TRUE(memory.valid());
    ExportSegment seg(ctl, memory);
    ASSERT_EQ(seg.status(), RSM_SUCCESS);
    ASSERT_EQ(seg.publish(), RSM_SUCCESS);
    ImportSegment imported(ctl, seg.id());
    ASSERT_EQ(imported.init_barrier(), RSM_SUCCESS);
    const auto last = static_cast<off_t>(length - 8);
    EXPECT_EQ(imported.put64(last, 1234), RSM_SUCCESS);
    EXPECT_EQ(memory.at(length - 8), 1234u);
    EXPECT_EQ(imported.put64(last + 8, 1), RSMERR_BAD_OFFSET);
    ASSERT_EQ(imported.map(length), RSM_SUCCESS);
    EXPECT_EQ(imported.at(length - 8), 1234u);
}
