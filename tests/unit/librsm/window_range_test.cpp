// SPDX-License-Identifier: MIT
// A memory file stands in for a segment: it can be mapped like one, and refuses all
// commands.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/rsm.h>
#include <sys/mman.h>
#include <unistd.h>

#include "device.h"
#include "window_range.h"

namespace {

const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));

class WindowRange : public testing::Test {
  protected:
    void SetUp() override {
        ASSERT_EQ(::ftruncate(file.get(), static_cast<off_t>(page)), 0);
        ASSERT_EQ(::pwrite(file.get(), "segment", 7, 0), 7);
        ASSERT_TRUE(memory);
        text() = 'm';
    }
    volatile char &text() const { return *reinterpret_cast<char *>(memory.data()); }

    static rsmdev::Export segment_of(int file) {
        return rsmdev::Export::adopt(rsm::device_policy, rsmdev::Descriptor(::dup(file)));
    }

    const rsmdev::Descriptor file{::memfd_create("segment", MFD_CLOEXEC)};
    const rsmdev::Export segment = segment_of(file.get());
    rsm::Mapping memory{
        ::mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), page};
};

TEST_F(WindowRange, ShowsTheSegmentInPlace) {
    ASSERT_EQ(rsm::show_segment(segment, memory.data(), page), RSM_SUCCESS);
    EXPECT_EQ(text(), 's');
    text() = 't';
    char written = 0;
    EXPECT_EQ(::pread(file.get(), &written, 1, 0), 1);
    EXPECT_EQ(written, 't');
}

// Its pages may be gone again: access to them would kill the program.
TEST_F(WindowRange, DoesNotTouchTheRange) {
    ASSERT_EQ(::ftruncate(file.get(), 0), 0);
    EXPECT_EQ(rsm::show_segment(segment, memory.data(), page), RSM_SUCCESS);
}

TEST_F(WindowRange, WhatCanNotBeMappedLeavesTheRangeAlone) {
    EXPECT_EQ(rsm::show_segment(rsmdev::Export(), memory.data(), page), RSMERR_INTERNAL_ERROR);
    const rsmdev::Descriptor readable(::open("/dev/zero", O_RDONLY | O_CLOEXEC));
    EXPECT_EQ(rsm::show_segment(segment_of(readable.get()), memory.data(), page), RSMERR_PERM_DENIED);
    EXPECT_EQ(text(), 'm');
}

TEST_F(WindowRange, WithoutAnAnswerNothingIsReplaced) {
    ASSERT_EQ(rsm::show_segment(segment, memory.data(), page), RSM_SUCCESS);
    rsm::bring_contents_home(segment);
    text() = 't';
    char written = 0;
    EXPECT_EQ(::pread(file.get(), &written, 1, 0), 1);
    EXPECT_EQ(written, 't');
    EXPECT_EQ(rsm::rebind_in_window(segment, memory.data(), page), RSMERR_INTERNAL_ERROR);
}

} // namespace
