// SPDX-License-Identifier: MIT
#include <cerrno>
#include <gtest/gtest.h>

#include "api.h"
#include "device.h"

TEST(Status, NamesWhatTheSpecificationNames) {
    EXPECT_EQ(rsm::status_of_errno(ENOMEM), RSMERR_INSUFFICIENT_MEM);
    EXPECT_EQ(rsm::status_of_errno(EAGAIN), RSMERR_INSUFFICIENT_RESOURCES);
    EXPECT_EQ(rsm::status_of_errno(EMFILE), RSMERR_INSUFFICIENT_RESOURCES);
    EXPECT_EQ(rsm::status_of_errno(ENFILE), RSMERR_INSUFFICIENT_RESOURCES);
    EXPECT_EQ(rsm::status_of_errno(ENOSPC), RSMERR_INSUFFICIENT_RESOURCES);
    EXPECT_EQ(rsm::status_of_errno(EFAULT), RSMERR_BAD_ADDR);
    EXPECT_EQ(rsm::status_of_errno(EINTR), RSMERR_INTERRUPTED);
    EXPECT_EQ(rsm::status_of_errno(EACCES), RSMERR_PERM_DENIED);
    EXPECT_EQ(rsm::status_of_errno(EPERM), RSMERR_PERM_DENIED);
}

// 9 would be SEG_ALREADY_MAPPED, 22 BAD_SEGID.
TEST(Status, NeverPassesAnErrnoOn) {
    for (const int error : {EBADF, EINVAL, ENOTTY, ENODEV, E2BIG, EOPNOTSUPP, 0, 4000})
        EXPECT_EQ(rsm::status_of_errno(error), RSMERR_INTERNAL_ERROR) << error;
}
