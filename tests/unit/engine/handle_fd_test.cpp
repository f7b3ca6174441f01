// SPDX-License-Identifier: MIT
// Descriptors and the limit on them.
#include "engine/loop/handle_fd.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

namespace {

rlim_t soft_limit() {
    rlimit limit{};
    EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
    return limit.rlim_cur;
}

TEST(HandleFd, DescriptorsNearTheSoftLimitRaiseIt) {
    rlimit limit{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
    const rlimit before = limit;
    ASSERT_GT(limit.rlim_max, 512U);
    limit.rlim_cur = 512;
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
    rsmengine::keep_room_above(400);
    EXPECT_EQ(soft_limit(), 512U);
    rsmengine::keep_room_above(500);
    EXPECT_EQ(soft_limit(), before.rlim_max);
    (void)::setrlimit(RLIMIT_NOFILE, &before);
}

} // namespace
