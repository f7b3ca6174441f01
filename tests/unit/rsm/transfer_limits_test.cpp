// SPDX-License-Identifier: MIT
// The limits that an IA promises under a limit of descriptors.
#include "transfer_fake.h"

#include <cstdlib>
#include <sys/resource.h>

namespace {

using DaplTransferLimitsDeathTest = fake::Transfers;

// In a process of its own, which ends with the most endpoints of an IA that it opens.
[[noreturn]] void open_with(rlim_t descriptors) {
    const rlimit limit{descriptors, descriptors};
    if (::setrlimit(RLIMIT_NOFILE, &limit) != 0)
        std::_Exit(255);
    DAT_PROVIDER table{};
    const rsmengine::Ia ia(&table, "fake0", rsmengine::transport_kind.open(""));
    std::_Exit(ia.limits.eps > 254 || ia.limits.lmrs < ia.limits.eps ? 254 : ia.limits.eps);
}

// Three for each endpoint, and 64 for the program.
TEST_F(DaplTransferLimitsDeathTest, EndpointsAreAsManyAsThereAreDescriptorsFor) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(open_with(64 + 3 * 100), testing::ExitedWithCode(100), "");
    EXPECT_EXIT(open_with(64), testing::ExitedWithCode(1), "");
    EXPECT_EXIT(open_with(1024), testing::ExitedWithCode(254), "");
}

} // namespace
