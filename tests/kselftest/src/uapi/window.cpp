// SPDX-License-Identifier: GPL-2.0
// Export handles in a window without librsm: mmap, REBIND, RANGE, RSM_BIND_LOCAL.
#include "interconnects/testctl.hpp"
#include "support/raw.hpp"

#include <cerrno>
#include <cstring>

using namespace rsmtest;
using raw::status;
using raw::success;

namespace {

constexpr int both = PROT_READ | PROT_WRITE;

class UapiWindow : public WindowTest {
protected:
    void SetUp() override
    {
        WindowTest::SetUp();
        auto argument = raw::bind_argument(memory.data(), size, RSM_ALLOW_REBIND, -1, "window0");
        ASSERT_EQ(raw::call(exporter.get(), RSM_IOC_BIND, argument), success);
        ASSERT_EQ(argument.window, 1u);
        ASSERT_EQ(raw::publish(exporter.get(), id), success);
    }
    // errno of an mmap of the export's handle, 0 if there was none
    int error_of_map(std::size_t length, int protection, off_t offset = 0, int flags = MAP_SHARED)
    {
        void *base = raw::map(exporter.get(), length, protection, offset, flags);
        if (!base)
            return errno;
        munmap(base, length);
        return 0;
    }
    // Maps the handle over the range, as librsm does.
    void show(void *range)
    {
        ASSERT_EQ(mmap(range, size, both, MAP_SHARED | MAP_FIXED, exporter.get(), 0), range);
    }
    rsm_range range()
    {
        rsm_range argument{};
        EXPECT_EQ(raw::call(exporter.get(), RSM_IOC_RANGE, argument), success);
        return argument;
    }
    bool shown() { return range().shown == 1; }
    bool dead()
    {
        std::uint32_t other = 0;
        return raw::publish(exporter.get(), other) == status(RSMERR_BAD_SEG_HNDL);
    }
    const std::size_t size = memory.size();
    Fd exporter = raw::open_segment();
    std::uint32_t id = 0;
};

} // namespace

TEST_F(UapiWindow, errors_of_mmap)
{
    const auto page = static_cast<off_t>(page_size());
    EXPECT_EQ(error_of_map(size, both), 0);
    EXPECT_EQ(error_of_map(size, PROT_READ), 0);
    EXPECT_EQ(error_of_map(page_size(), both, 3 * page), 0);
    EXPECT_EQ(error_of_map(size, both, 0, MAP_PRIVATE), EINVAL);
    EXPECT_EQ(error_of_map(size + page_size(), both), ENXIO);
    EXPECT_EQ(error_of_map(size, both, page), ENXIO);
    EXPECT_EQ(error_of_map(page_size(), both, 4 * page), ENXIO);
    EXPECT_EQ(error_of_map(size, PROT_READ | PROT_EXEC), EACCES);
    in_child([&] { EXPECT_EQ(error_of_map(size, both), EPERM); });
    ASSERT_EQ(raw::destroy(exporter.get()), success);
    EXPECT_EQ(error_of_map(size, both), ENODEV);
}

TEST_F(UapiWindow, never_executable_and_never_larger)
{
    void *view = raw::map(exporter.get(), size);
    ASSERT_NE(view, nullptr);
    EXPECT_EQ(mprotect(view, size, PROT_READ | PROT_EXEC), -1);
    EXPECT_EQ(errno, EACCES);
    EXPECT_EQ(mremap(view, size, size + page_size(), MREMAP_MAYMOVE), MAP_FAILED);
    munmap(view, size);
    EXPECT_EQ(raw::unpublish(exporter.get()), success) << "a mapping elsewhere may go";
}

TEST_F(UapiWindow, private_copy_after_the_end)
{
    show(memory.data());
    const Fd handle = raw::open_segment();
    ASSERT_EQ(raw::connect(handle.get(), id), success);
    auto *theirs = static_cast<volatile std::uint64_t *>(raw::map(handle.get(), size));
    ASSERT_NE(theirs, nullptr);
    memory.at(8) = 5;
    EXPECT_EQ(theirs[1], 5u);
    exporter.reset(); // the mapping holds the file
    EXPECT_EQ(theirs[1], 5u);
    theirs[1] = 6;
    EXPECT_EQ(memory.at(8), 6u);
    munmap(const_cast<std::uint64_t *>(theirs), size);
}

// Otherwise a segment that dies while librsm maps it over the range would leave a hole there,
// which another thread's mmap() could get.
TEST_F(UapiWindow, mapped_once_more_after_the_end)
{
    void *view = raw::map(exporter.get(), size);
    ASSERT_NE(view, nullptr);
    ASSERT_EQ(raw::destroy(exporter.get()), success);
    show(memory.data());
    EXPECT_TRUE(holds_pattern(memory));
    memory.at(8) = 5;
    EXPECT_EQ(static_cast<std::uint64_t *>(view)[1], 5u) << "not the same copy";
    munmap(view, size);
    EXPECT_EQ(memory.at(8), 5u);
}

TEST_F(UapiWindow, importers_do_not_see_the_private_copy)
{
    show(memory.data());
    const Fd handle = raw::open_segment();
    ASSERT_EQ(raw::connect(handle.get(), id), success);
    auto *theirs = static_cast<volatile std::uint64_t *>(raw::map(handle.get(), size));
    ASSERT_NE(theirs, nullptr);
    ASSERT_EQ(raw::destroy(exporter.get()), success);
    EXPECT_TRUE(holds_pattern(memory));
    memory.at(8) = 6;
    EXPECT_EQ(theirs[1], 0u);
    theirs[1] = 7;
    EXPECT_EQ(memory.at(8), 6u);
    EXPECT_TRUE(shown()) << "a dead one, too";
    munmap(const_cast<std::uint64_t *>(theirs), size);
}

TEST_F(UapiWindow, range_tells_whether_it_is_shown)
{
    EXPECT_FALSE(shown());
    EXPECT_EQ(range().vaddr, reinterpret_cast<std::uintptr_t>(memory.data()));
    EXPECT_EQ(range().length, size);
    const auto page = static_cast<off_t>(page_size());
    for (off_t i = 3; i >= 0; i--) { // piece by piece
        EXPECT_FALSE(shown()) << i;
        ASSERT_NE(mmap(memory.data() + i * page, page_size(), both, MAP_SHARED | MAP_FIXED,
                       exporter.get(), i * page),
                  MAP_FAILED);
    }
    EXPECT_TRUE(shown());
    in_child([&] {
        rsm_range argument{};
        EXPECT_EQ(raw::call(exporter.get(), RSM_IOC_RANGE, argument), status(RSMERR_NOT_CREATOR));
    });
    ASSERT_EQ(mprotect(memory.data(), page_size(), PROT_READ), 0);
    EXPECT_FALSE(shown());
    ASSERT_EQ(mprotect(memory.data(), page_size(), both), 0);
    EXPECT_TRUE(shown());
    ASSERT_EQ(munmap(memory.data() + page, page_size()), 0);
    EXPECT_FALSE(shown());
    EXPECT_TRUE(eventually([&] { return dead(); }));
    const raw::Published pinned(1);
    rsm_range argument{};
    EXPECT_EQ(raw::call(pinned.handle.get(), RSM_IOC_RANGE, argument), success);
    EXPECT_EQ(argument.shown, 0u) << "not in a window";
}

// Another segment's mapping over the range is none of this one.
TEST_F(UapiWindow, range_is_not_fooled_by_another_segment)
{
    Pages other(page_count);
    const Fd second = raw::open_segment();
    auto argument = raw::bind_argument(other.data(), size, 0, -1, "window0");
    ASSERT_EQ(raw::call(second.get(), RSM_IOC_BIND, argument), success);
    ASSERT_NE(mmap(memory.data(), size, both, MAP_SHARED | MAP_FIXED, second.get(), 0),
              MAP_FAILED);
    EXPECT_FALSE(shown());
}

TEST_F(UapiWindow, rebind_and_back)
{
    show(memory.data());
    Pages other(page_count);
    other.at() = 100;
    ASSERT_EQ(raw::rebind(exporter.get(), other.data(), size), success);
    EXPECT_EQ(memory.at(), 100u) << "the old range shows the segment still";
    EXPECT_FALSE(shown()) << "the new one not yet";
    EXPECT_EQ(range().vaddr, reinterpret_cast<std::uintptr_t>(other.data()));
    memory.at() = 1;
    ASSERT_EQ(raw::rebind(exporter.get(), memory.data(), size), success);
    EXPECT_EQ(memory.at(), 1u) << "nothing was copied";
    EXPECT_EQ(memory.at(page_size()), 0u);
    EXPECT_TRUE(shown());
    ASSERT_EQ(munmap(memory.data(), page_size()), 0);
    EXPECT_EQ(raw::rebind(exporter.get(), other.data(), size), status(RSMERR_BAD_SEG_HNDL));
    EXPECT_TRUE(eventually([&] { return dead(); }));
}

TEST_F(UapiWindow, local_handle)
{
    for (const char *controller : {"window0", "nomap0", "loopback"}) {
        Pages pages(2);
        pages.at() = 3;
        const Fd local = raw::open_segment();
        auto argument =
            raw::bind_argument(pages.data(), pages.size(), RSM_BIND_LOCAL, -1, controller);
        ASSERT_EQ(raw::call(local.get(), RSM_IOC_BIND, argument), success) << controller;
        EXPECT_EQ(argument.window, 0u);
        std::uint32_t other = 0;
        EXPECT_EQ(raw::publish(local.get(), other), status(RSMERR_BAD_SEG_HNDL));
        EXPECT_EQ(raw::map(local.get(), pages.size()), nullptr);
        EXPECT_EQ(errno, ENODEV);
        const Fd handle = raw::open_segment();
        ASSERT_EQ(raw::connect(handle.get(), id), success);
        rsm_transfer_entry entry = raw::entry(nullptr, 16, 8);
        entry.type = RSM_HANDLE_TYPE;
        entry.fd = local.get();
        ASSERT_EQ(raw::transfer(handle.get(), RSM_IOC_PUTV, {&entry, 1}), success);
        std::uint64_t value = 0;
        const auto back = raw::entry(&value, 16, 8);
        ASSERT_EQ(raw::transfer(handle.get(), RSM_IOC_GETV, {&back, 1}), success);
        EXPECT_EQ(value, 3u);
    }
}
