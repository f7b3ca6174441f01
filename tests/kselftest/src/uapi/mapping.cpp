// SPDX-License-Identifier: GPL-2.0
// mmap of import and control handles.
#include "support/child.hpp"
#include "support/raw.hpp"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <fstream>
#include <gtest/gtest.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <string>
#include <sys/syscall.h>
#include <unistd.h>

using namespace rsmtest;
using raw::status;
using raw::success;

namespace {

constexpr int both = PROT_READ | PROT_WRITE;

class UapiMapping : public testing::Test {
protected:
    void SetUp() override
    {
        ASSERT_TRUE(published.ok);
        ASSERT_EQ(raw::connect(imported.get(), published.id), success);
    }
    // errno of an mmap that must fail
    static int refused(int fd, std::size_t length, int protection, off_t offset = 0,
                       int flags = MAP_SHARED)
    {
        void *base = raw::map(fd, length, protection, offset, flags);
        if (!base)
            return errno;
        munmap(base, length);
        return 0;
    }
    raw::Published published{4, RSM_ALLOW_REBIND};
    Fd imported = raw::open_segment();
    Fd control = raw::open_control();
    const std::size_t size = published.memory.size();
    const off_t page = static_cast<off_t>(page_size());
};

// The line of /proc/self/maps for the mapping at an address.
std::string line_of_maps(const void *base)
{
    char start[20];
    std::snprintf(start, sizeof(start), "%lx-", reinterpret_cast<unsigned long>(base));
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
        if (line.starts_with(start))
            return line;
    }
    return {};
}

volatile std::uint64_t &word(void *base, std::size_t offset = 0)
{
    return *reinterpret_cast<volatile std::uint64_t *>(static_cast<std::byte *>(base) + offset);
}

} // namespace

TEST_F(UapiMapping, rights_of_the_connection)
{
    for (const std::uint32_t rights : {0u, 0400u, 0200u, 0600u}) {
        const Fd handle = raw::open_segment();
        ASSERT_EQ(raw::connect(handle.get(), published.id, rights), success);
        EXPECT_EQ(refused(handle.get(), size, PROT_READ), rights & 0400 ? 0 : EACCES) << rights;
        EXPECT_EQ(refused(handle.get(), size, PROT_WRITE), rights & 0200 ? 0 : EACCES) << rights;
        EXPECT_EQ(refused(handle.get(), size, both), rights == 0600 ? 0 : EACCES) << rights;
        EXPECT_EQ(refused(handle.get(), size, PROT_READ | PROT_EXEC), EACCES);
        EXPECT_EQ(refused(handle.get(), size, PROT_EXEC), EACCES);
        EXPECT_EQ(refused(handle.get(), size, PROT_NONE), 0);
    }
}

// A debugger's way, which needs no right to the page table entry.
TEST_F(UapiMapping, debuggers_get_the_rights_of_the_connection)
{
    const Fd mem(open("/proc/self/mem", O_RDWR | O_CLOEXEC));
    ASSERT_TRUE(mem.valid());
    for (const std::uint32_t rights : {0u, 0400u, 0200u, 0600u}) {
        for (const int protection : {PROT_NONE, PROT_READ, PROT_WRITE, both}) {
            SCOPED_TRACE(testing::Message() << std::oct << rights << " " << protection);
            published.memory.at() = 0x5ec4e7;
            const Fd handle = raw::open_segment();
            ASSERT_EQ(raw::connect(handle.get(), published.id, rights), success);
            void *base = raw::map(handle.get(), size, protection);
            if (!base)
                continue;
            std::uint64_t word = 0;
            const auto at = static_cast<off_t>(reinterpret_cast<std::uintptr_t>(base));
            EXPECT_EQ(pread(mem.get(), &word, sizeof(word), at), rights & 0400 ? 8 : -1);
            EXPECT_EQ(word, rights & 0400 ? 0x5ec4e7u : 0u);
            word = 1;
            EXPECT_EQ(pwrite(mem.get(), &word, sizeof(word), at), protection & PROT_WRITE ? 8 : -1);
            EXPECT_EQ(published.memory.at(), protection & PROT_WRITE ? 1u : 0x5ec4e7u);
            munmap(base, size);
        }
    }
}

// PROT_WRITE lets a program read, on x86.
TEST_F(UapiMapping, who_may_not_read_does_not_map_to_write)
{
    for (const std::uint32_t mode : {0662u, 0666u}) {
        const rsm_acl_entry entry{raw::local_node(), mode};
        ASSERT_EQ(raw::republish(published.handle.get(), {&entry, 1}), success);
        const bool may_read = mode == 0666;
        in_child_as(alice(), [&] {
            SCOPED_TRACE(testing::Message() << std::oct << mode);
            const Fd handle = raw::open_segment();
            rsm_connect connect = raw::connect_argument(published.id, RSM_PERM_WRITE);
            ASSERT_EQ(raw::call(handle.get(), RSM_IOC_CONNECT, connect), success);
            EXPECT_EQ(connect.mappable, may_read ? 1u : 0u);
            EXPECT_EQ(refused(handle.get(), size, PROT_WRITE), may_read ? 0 : EACCES);
            EXPECT_EQ(refused(handle.get(), size, PROT_READ), EACCES);
            void *base = raw::map(handle.get(), size, PROT_NONE);
            ASSERT_NE(base, nullptr);
            EXPECT_EQ(mprotect(base, size, PROT_WRITE), may_read ? 0 : -1);
            EXPECT_EQ(mprotect(base, size, PROT_READ), -1);
            in_child([&] {
                EXPECT_EQ(refused(handle.get(), size, PROT_WRITE), EACCES)
                    << "a child has the connection's right and not its parent's";
                const rsm_transfer_entry entry = raw::entry(&mode, 0, sizeof(mode));
                EXPECT_EQ(raw::transfer(handle.get(), RSM_IOC_PUTV, {&entry, 1}), success);
            });
            munmap(base, size);
        });
        EXPECT_EQ(published.memory.at<std::uint32_t>(), mode);
    }
}

TEST_F(UapiMapping, mprotect_beyond_the_rights)
{
    const Fd reader = raw::open_segment();
    ASSERT_EQ(raw::connect(reader.get(), published.id, RSM_PERM_READ), success);
    for (const int protection : {PROT_READ, PROT_NONE}) {
        void *base = raw::map(reader.get(), size, protection);
        ASSERT_NE(base, nullptr);
        for (const int wanted : {PROT_WRITE, both, PROT_EXEC, PROT_READ | PROT_EXEC}) {
            EXPECT_EQ(mprotect(base, size, wanted), -1);
            EXPECT_EQ(errno, EACCES);
        }
        EXPECT_EQ(mprotect(base, size, PROT_READ), 0);
        EXPECT_EQ(word(base), 0u);
        munmap(base, size);
    }
    void *base = raw::map(imported.get(), size, both);
    EXPECT_EQ(mprotect(base, size, PROT_READ | PROT_EXEC), -1);
    EXPECT_EQ(mprotect(base, size, PROT_READ), 0);
    EXPECT_EQ(mprotect(base, size, both), 0);
    word(base) = 4;
    EXPECT_EQ(published.memory.at(), 4u);
    munmap(base, size);
}

TEST_F(UapiMapping, kinds_of_mapping)
{
    EXPECT_EQ(refused(imported.get(), size, both, 0, MAP_PRIVATE), EINVAL);
    EXPECT_EQ(refused(imported.get(), size, PROT_READ, 0, MAP_PRIVATE), EINVAL);
    EXPECT_EQ(refused(imported.get(), size, both, page), ENXIO);
    EXPECT_EQ(refused(imported.get(), size + page_size(), both), ENXIO);
    EXPECT_EQ(refused(imported.get(), page_size(), both, 4 * page), ENXIO);
    EXPECT_EQ(refused(imported.get(), page_size(), both, static_cast<off_t>(1) << 40), ENXIO);
    const int wraps = refused(imported.get(), page_size(), both, static_cast<off_t>(~0ull << 12));
    EXPECT_TRUE(wraps == ENXIO || wraps == EOVERFLOW || wraps == EINVAL) << wraps;
    EXPECT_EQ(refused(imported.get(), page_size(), both, 3 * page), 0);
    EXPECT_EQ(refused(published.handle.get(), size, both), ENODEV);
    const Fd blank = raw::open_segment();
    EXPECT_EQ(refused(blank.get(), page_size(), both), ENODEV);
    ASSERT_EQ(raw::unpublish(published.handle.get()), success);
    EXPECT_EQ(refused(imported.get(), size, both), ENODEV);
    EXPECT_EQ(refused(imported.get(), size, PROT_NONE), ENODEV);
}

// Each handle has an address space of its own: nothing but the offset of the segment tells where a
// mapping is in there.
TEST_F(UapiMapping, offset_in_maps_is_that_of_the_segment)
{
    void *base = raw::map(imported.get(), page_size(), both, 2 * page);
    ASSERT_NE(base, nullptr);
    EXPECT_NE(line_of_maps(base).find(" 00002000 "), std::string::npos) << line_of_maps(base);
    munmap(base, page_size());
}

// Calls for files look at the address space, which has no pages.
TEST_F(UapiMapping, calls_for_files_do_nothing)
{
    for (const int fd : {imported.get(), published.handle.get(), control.get()}) {
        void *base = raw::map(fd, size);
        for (int advice = POSIX_FADV_NORMAL; advice <= POSIX_FADV_NOREUSE; advice++)
            posix_fadvise(fd, 0, 0, advice);
        EXPECT_EQ(readahead(fd, 0, size), -1);
        EXPECT_EQ(fsync(fd), -1);
        EXPECT_EQ(fdatasync(fd), -1);
        EXPECT_EQ(sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE), -1);
        EXPECT_EQ(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, page), -1);
        EXPECT_EQ(ftruncate(fd, 0), -1);
        EXPECT_EQ(lseek(fd, page, SEEK_SET), -1);
        if (base != nullptr) {
            EXPECT_EQ(msync(base, size, MS_SYNC), -1);
            munmap(base, size);
        }
    }
    EXPECT_EQ(published.memory.at(), 0u);
}

TEST_F(UapiMapping, mremap_can_not_grow)
{
    void *base = raw::map(imported.get(), size);
    ASSERT_NE(base, nullptr);
    EXPECT_EQ(mremap(base, size, size + page_size(), MREMAP_MAYMOVE), MAP_FAILED);
    EXPECT_EQ(mremap(base, size, size + page_size(), 0), MAP_FAILED);
    void *part = raw::map(imported.get(), page_size());
    ASSERT_NE(part, nullptr);
    EXPECT_EQ(mremap(part, page_size(), 2 * page_size(), MREMAP_MAYMOVE), MAP_FAILED);
    // a length of 0 duplicates a shared mapping
    void *copy = mremap(part, 0, page_size(), MREMAP_MAYMOVE);
    if (copy != MAP_FAILED) {
        word(copy) = 12;
        EXPECT_EQ(published.memory.at(), 12u);
        ASSERT_EQ(raw::unpublish(published.handle.get()), success);
        EXPECT_EQ(word(copy), 0u) << "the copy was not revoked";
        munmap(copy, page_size());
    }
    munmap(part, page_size());
    munmap(base, size);
}

TEST_F(UapiMapping, revoked_wherever_it_went)
{
    auto *base = static_cast<std::byte *>(raw::map(imported.get(), size));
    ASSERT_NE(base, nullptr);
    for (std::size_t i = 0; i < 4; i++)
        word(base, i * page_size()) = i + 1;
    // A hole in the middle, and the last page moved elsewhere.
    ASSERT_EQ(munmap(base + page_size(), page_size()), 0);
    Pages target(1);
    void *moved = mremap(base + 3 * page_size(), page_size(), page_size(),
                         MREMAP_MAYMOVE | MREMAP_FIXED, target.data());
    ASSERT_EQ(moved, target.data());
    EXPECT_EQ(word(moved), 4u);
    EXPECT_EQ(word(base, 2 * page_size()), 3u);
    ASSERT_EQ(raw::unpublish(published.handle.get()), success);
    published.memory.at(8) = 99;
    published.memory.at(3 * page_size() + 8) = 99;
    EXPECT_EQ(word(base), 0u);
    EXPECT_EQ(word(base, 8), 0u);
    EXPECT_EQ(word(base, 2 * page_size()), 0u);
    EXPECT_EQ(word(moved), 0u);
    word(moved, 8) = 5;
    EXPECT_EQ(published.memory.at(3 * page_size() + 8), 99u);
    munmap(base, 3 * page_size());
}

TEST_F(UapiMapping, outlives_the_descriptor)
{
    void *base = raw::map(imported.get(), size);
    ASSERT_NE(base, nullptr);
    imported.reset();
    word(base) = 3;
    EXPECT_EQ(published.memory.at(), 3u);
    ASSERT_EQ(raw::unpublish(published.handle.get()), success);
    EXPECT_EQ(word(base), 0u);
    munmap(base, size);
}

TEST_F(UapiMapping, madvise_and_friends)
{
    void *base = raw::map(imported.get(), size);
    ASSERT_NE(base, nullptr);
    word(base) = 3;
    madvise(base, size, MADV_DONTNEED);
    EXPECT_EQ(word(base), 3u);
    EXPECT_EQ(published.memory.at(), 3u);
    for (const int advice : {MADV_REMOVE, MADV_DOFORK, MADV_HUGEPAGE, MADV_MERGEABLE, MADV_FREE,
                             MADV_COLD, MADV_PAGEOUT, MADV_POPULATE_READ, MADV_POPULATE_WRITE})
        madvise(base, size, advice);
    EXPECT_EQ(published.memory.at(), 3u);
    mlock(base, size);
    EXPECT_EQ(word(base), 3u);
    munmap(base, size);
}

// Asked to write-protect pages that were never touched, it leaves markers behind.
TEST_F(UapiMapping, userfaultfd_write_protects_asynchronously)
{
    const Fd faults(static_cast<int>(syscall(SYS_userfaultfd, O_CLOEXEC)));
    constexpr std::uint64_t wp_unpopulated = 1 << 13;
    constexpr std::uint64_t wp_async = 1 << 15;
    uffdio_api api{UFFD_API, wp_unpopulated | wp_async, 0};
    if (!faults.valid() || ioctl(faults.get(), UFFDIO_API, &api) != 0)
        GTEST_SKIP() << "this kernel's userfaultfd takes no such mapping";
    void *base = raw::map(imported.get(), size);
    ASSERT_NE(base, nullptr);
    const uffdio_range range{reinterpret_cast<std::uintptr_t>(base), size};
    uffdio_register wanted{range, UFFDIO_REGISTER_MODE_WP, 0};
    // 6.12.95 takes a mapping of a device, 6.12.117 and 7.2 do not.
    const int registered = ioctl(faults.get(), UFFDIO_REGISTER, &wanted);
    if (registered != 0 && errno == EINVAL) {
        word(base) = 5;
        EXPECT_EQ(published.memory.at(), 5u);
        munmap(base, size);
        GTEST_SKIP() << "this kernel's userfaultfd takes no mapping of a device";
    }
    ASSERT_EQ(registered, 0);
    uffdio_writeprotect protect{range, UFFDIO_WRITEPROTECT_MODE_WP};
    ASSERT_EQ(ioctl(faults.get(), UFFDIO_WRITEPROTECT, &protect), 0);
    published.memory.at() = 5;
    EXPECT_EQ(word(base), 5u);
    word(base, 8) = 6;
    EXPECT_EQ(published.memory.at(8), 6u);
    ASSERT_EQ(raw::unpublish(published.handle.get()), success);
    EXPECT_EQ(word(base), 0u);
    munmap(base, size);
}

TEST_F(UapiMapping, control_handle_rules)
{
    const off_t consumed = RSM_MMAP_CONSUMED;
    const std::size_t table = std::size_t{RSM_TABLE_SLOTS} * RSM_SLOT_SIZE;
    const int fd = control.get();
    EXPECT_EQ(refused(fd, page_size(), PROT_READ, RSM_MMAP_STATUS), 0);
    EXPECT_EQ(refused(fd, table, PROT_READ, RSM_MMAP_STATUS), 0);
    EXPECT_EQ(refused(fd, table + page_size(), PROT_READ, RSM_MMAP_STATUS), EINVAL);
    EXPECT_EQ(refused(fd, page_size(), both, RSM_MMAP_STATUS), EACCES);
    EXPECT_EQ(refused(fd, page_size(), PROT_WRITE, RSM_MMAP_STATUS), EACCES);
    EXPECT_EQ(refused(fd, page_size(), PROT_READ, RSM_MMAP_STATUS, MAP_PRIVATE), EINVAL);
    EXPECT_EQ(refused(fd, page_size(), PROT_READ, 0x20000000), EINVAL);
    EXPECT_EQ(refused(fd, page_size(), PROT_READ, static_cast<off_t>(1) << 44), EINVAL);
    EXPECT_EQ(refused(fd, table + page_size(), both, consumed), EINVAL);
    const auto writable = [&] { return refused(fd, page_size(), both, consumed); };
    // The descriptor is open for reading only: the contract says writable
    // all the same.
    EXPECT_EQ(writable(), 0);
    in_child([&] {
        EXPECT_EQ(refused(fd, page_size(), both, consumed), EPERM) << "another process";
        EXPECT_EQ(refused(fd, page_size(), PROT_READ, RSM_MMAP_STATUS), 0);
    });
    void *status_words = raw::map(fd, page_size(), PROT_READ, RSM_MMAP_STATUS);
    ASSERT_NE(status_words, nullptr);
    EXPECT_EQ(mprotect(status_words, page_size(), both), -1);
    munmap(status_words, page_size());
}

TEST_F(UapiMapping, control_words_and_fork)
{
    const int fd = control.get();
    void *status_words = raw::map(fd, page_size(), PROT_READ, RSM_MMAP_STATUS);
    void *consumed_words = raw::map(fd, page_size(), both, RSM_MMAP_CONSUMED);
    ASSERT_NE(status_words, nullptr);
    ASSERT_NE(consumed_words, nullptr);
    const Fd handle = raw::open_segment();
    rsm_connect connect = raw::connect_argument(published.id, RSM_PERM_RDWR, fd);
    ASSERT_EQ(raw::call(handle.get(), RSM_IOC_CONNECT, connect), success);
    ASSERT_LT(connect.slot, page_size() / RSM_SLOT_SIZE);
    auto *slot = reinterpret_cast<volatile rsm_status_slot *>(
        static_cast<std::byte *>(status_words) + connect.slot * RSM_SLOT_SIZE);
    auto *consumed = reinterpret_cast<std::atomic<std::uint32_t> *>(
        static_cast<std::byte *>(consumed_words) + connect.slot * RSM_SLOT_SIZE);
    EXPECT_EQ(slot->generation, connect.generation);
    const std::uint32_t before = slot->posted;
    EXPECT_EQ(before, consumed->load());
    ASSERT_EQ(raw::post(published.handle.get()), success);
    EXPECT_EQ(slot->posted, before + 1);
    in_child([&] {
        EXPECT_EQ(slot->posted, before + 1) << "the first mapping is handed down";
        unsigned char resident = 0;
        EXPECT_EQ(mincore(consumed_words, page_size(), &resident), -1) << "the second is not";
    });
    // Consuming in user space is consuming for the kernel.
    pollfd entry{handle.get(), POLLRDNORM, 0};
    EXPECT_EQ(poll(&entry, 1, 0), 1);
    consumed->fetch_add(1);
    EXPECT_EQ(poll(&entry, 1, 0), 0);
    EXPECT_EQ(raw::wait(handle.get()), status(RSMERR_TIMEOUT));
    ASSERT_EQ(raw::post(published.handle.get()), success);
    EXPECT_EQ(raw::wait(handle.get()), success);
    EXPECT_EQ(consumed->load(), slot->posted);
    // Nonsense there harms nobody but its writer.
    consumed->store(0x12345678);
    raw::post(published.handle.get());
    raw::post(published.handle.get(), RSM_SIGPOST_NO_ACCUMULATE);
    raw::wait(handle.get());
    poll(&entry, 1, 0);
    ASSERT_EQ(raw::unpublish(published.handle.get()), success);
    EXPECT_NE(slot->generation, connect.generation);
    munmap(status_words, page_size());
    munmap(consumed_words, page_size());
}

TEST_F(UapiMapping, control_handle_closed_before_its_users)
{
    const Fd handle = raw::open_segment();
    rsm_connect connect = raw::connect_argument(published.id, RSM_PERM_RDWR, control.get());
    ASSERT_EQ(raw::call(handle.get(), RSM_IOC_CONNECT, connect), success);
    void *status_words = raw::map(control.get(), page_size(), PROT_READ, RSM_MMAP_STATUS);
    ASSERT_NE(status_words, nullptr);
    control.reset();
    EXPECT_EQ(raw::post(published.handle.get()), success);
    EXPECT_EQ(raw::wait(handle.get()), success);
    ASSERT_EQ(raw::unpublish(published.handle.get()), success);
    munmap(status_words, page_size());
}

TEST_F(UapiMapping, handle_passed_to_another_process)
{
    Child child([&](Link &link) {
        const Fd handle = link.receive_fd();
        ASSERT_TRUE(handle.valid());
        ASSERT_TRUE(become(alice()));
        void *base = raw::map(handle.get(), size);
        ASSERT_NE(base, nullptr) << "a passed handle keeps its rights";
        word(base) = 42;
        EXPECT_EQ(raw::post(handle.get()), success);
        link.tell();
        link.hear();
        EXPECT_EQ(word(base), 0u);
        EXPECT_EQ(raw::post(handle.get()), status(RSMERR_CONN_ABORTED));
    });
    child.link().send_fd(imported.get());
    imported.reset();
    child.hear();
    EXPECT_EQ(published.memory.at(), 42u);
    EXPECT_EQ(raw::wait(published.handle.get()), success);
    ASSERT_EQ(raw::unpublish(published.handle.get()), success);
    child.tell();
    child.expect_success();
}
