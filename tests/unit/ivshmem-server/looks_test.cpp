// SPDX-License-Identifier: GPL-2.0
// The looks of rsm-ivshmem-server, by a clock of the test's own.
#include <chrono>
#include <gtest/gtest.h>

#include "looks.hpp"

namespace ivshmem::test {
namespace {

using namespace std::chrono_literals;

constexpr Clock::time_point start{};

TEST(IvshmemServerLooks, AreDueOncePerInterval) {
    Looks looks(start);
    EXPECT_EQ(looks.begin(start), Look::early);
    EXPECT_EQ(looks.begin(start + look_interval - 1ms), Look::early);
    EXPECT_EQ(looks.begin(start + look_interval), Look::due);
    EXPECT_EQ(looks.begin(start + 2 * look_interval - 1ms), Look::early) << "from the last look on";
    EXPECT_EQ(looks.begin(start + 2 * look_interval), Look::due);
}

TEST(IvshmemServerLooks, AreLateAfterAStandstillAndInTimeAgainAfterwards) {
    Looks looks(start);
    EXPECT_EQ(looks.begin(start + 5 * look_interval), Look::due) << "a server that is slow";
    const auto again = start + 1h;
    EXPECT_EQ(looks.begin(again), Look::late);
    EXPECT_EQ(looks.begin(again + 1ms), Look::early);
    EXPECT_EQ(looks.begin(again + look_interval), Look::due);
}

} // namespace
} // namespace ivshmem::test
