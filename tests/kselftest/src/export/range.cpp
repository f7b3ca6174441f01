// SPDX-License-Identifier: GPL-2.0
// Which mappings may stand behind an export, also while they change hands.
#include "support/raw.hpp"

#include <barrier>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <thread>
#include <unistd.h>

using namespace rsmtest;

namespace {

constexpr std::uint64_t in_the_file = 0x1234567890abcdef;

Fd named_file()
{
    Fd file(::open("/dev/shm/rsm-range", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    ::unlink("/dev/shm/rsm-range");
    EXPECT_EQ(::ftruncate(file.get(), static_cast<off_t>(page_size())), 0);
    EXPECT_EQ(::pwrite(file.get(), &in_the_file, sizeof(in_the_file), 0),
              ssize_t{sizeof(in_the_file)});
    return file;
}

void put_there(const Pages &page, int flags, int file)
{
    EXPECT_NE(::mmap(page.data(), page.size(), PROT_READ | PROT_WRITE, flags | MAP_FIXED, file, 0),
              MAP_FAILED);
}

// Does an importer of the export get what is in the file?
bool shows_the_file(const Fd &seg)
{
    std::uint32_t id = 0;
    const Fd imported = raw::open_segment();
    if (raw::publish(seg.get(), id) != raw::success ||
        raw::connect(imported.get(), id, RSM_PERM_READ) != raw::success)
        return false;
    std::uint64_t word = 0;
    const auto entry = raw::entry(&word, 0, sizeof(word));
    raw::transfer(imported.get(), RSM_IOC_GETV, std::span(&entry, 1));
    return word == in_the_file;
}

} // namespace

// A named file takes the place of memory between the check of the mappings and the pin, if the
// moment is hit; the export must not be of the file at any moment.
TEST(ExportRange, a_mapping_that_changes_hands_under_bind_is_not_exported)
{
    const int rounds = 2000 / slow_factor();
    const Pages page(1);
    const Fd file = named_file();
    std::barrier together(2);
    std::thread swapper([&] {
        for (int round = 0; round < rounds; ++round) {
            together.arrive_and_wait();
            for (volatile int spin = 0; spin < round % 500 * 10;)
                spin = spin + 1;
            put_there(page, MAP_SHARED, file.get());
            together.arrive_and_wait();
        }
    });
    int wrong = 0;
    for (int round = 0; round < rounds; ++round) {
        put_there(page, MAP_PRIVATE | MAP_ANONYMOUS, -1);
        page.at() = 1;
        const Fd seg = raw::open_segment();
        together.arrive_and_wait();
        const auto outcome = raw::bind(seg.get(), page.data(), page.size());
        together.arrive_and_wait();
        wrong += outcome == raw::success && shows_the_file(seg);
    }
    swapper.join();
    EXPECT_EQ(wrong, 0);
}

// Device nodes lie on devtmpfs, which has the magic number of tmpfs.
TEST(ExportRange, the_memory_of_a_device_is_refused)
{
    const Fd control = raw::open_control();
    void *words = raw::map(control.get(), page_size(), PROT_READ | PROT_WRITE, RSM_MMAP_CONSUMED);
    ASSERT_NE(words, nullptr);
    const Fd seg = raw::open_segment();
    EXPECT_EQ(raw::bind(seg.get(), words, page_size(), RSM_BIND_LOCAL),
              raw::status(RSMERR_BAD_ADDR));
    ::munmap(words, page_size());
}
