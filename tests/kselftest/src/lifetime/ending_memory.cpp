// SPDX-License-Identifier: GPL-2.0
#include "lifetime/ending_memory.hpp"

#include <cstring>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

namespace rsmtest::lifetime {

EndingMemory::EndingMemory(Way way)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS;
    if (way == Way::TRUNCATED) {
        file_ = Fd(memfd_create("ending-memory", MFD_CLOEXEC));
        EXPECT_EQ(ftruncate(file_.get(), static_cast<off_t>(size())), 0);
        flags = MAP_SHARED;
    }
    void *start = mmap(nullptr, size(), PROT_READ | PROT_WRITE, flags, file_.get(), 0);
    EXPECT_NE(start, MAP_FAILED);
    start_ = static_cast<std::byte *>(start);
    std::memset(start_, 0, size());
}

EndingMemory::~EndingMemory()
{
    munmap(start_, size());
}

void EndingMemory::end(Way way) const
{
    int result = -1;
    if (way == Way::UNMAPPED)
        result = munmap(start_, size());
    if (way == Way::TRUNCATED)
        result = ftruncate(file_.get(), 0);
    if (way == Way::PROTECTED)
        result = mprotect(start_, size(), PROT_NONE);
    EXPECT_EQ(result, 0);
}

} // namespace rsmtest::lifetime
