// SPDX-License-Identifier: GPL-2.0
// The table of registered providers that every call looks at.
#include <algorithm>
#include <atomic>
#include <gtest/gtest.h>
#include <thread>
#include <vector>

#include "dynamic_registry.h"
#include "registry.h"

namespace {

TEST(DatKnownProvider, ManyComeAndGo) {
    static dat::KnownProviders known; // is made to outlive its readers, and has no destructor
    std::vector<DAT_PROVIDER> tables(100);
    EXPECT_FALSE(known.contains(nullptr));
    for (auto &table : tables) {
        EXPECT_FALSE(known.contains(&table));
        known.add(&table);
        known.add(&table);
    }
    for (std::size_t i = 0; i < tables.size(); i += 2)
        known.remove(&tables[i]);
    for (std::size_t i = 0; i < tables.size(); ++i)
        EXPECT_EQ(known.contains(&tables[i]), i % 2 == 1) << i;
    EXPECT_FALSE(known.contains(nullptr)) << "there are gaps";
    known.remove(&tables[0]);
}

// As long as it is registered under some name, and no longer.
TEST(DatKnownProvider, FollowsTheRegistry) {
    dat::DynamicRegistry registry;
    const DAT_PROVIDER provider{};
    const dat::Key one{"one", 1, 2, true};
    const dat::Key two{"two", 1, 2, true};
    EXPECT_FALSE(dat::known_provider(&provider));
    EXPECT_EQ(registry.add(one, provider, nullptr), DAT_RETURN(DAT_SUCCESS));
    EXPECT_EQ(registry.add(two, provider, nullptr), DAT_RETURN(DAT_SUCCESS));
    EXPECT_EQ(registry.remove(one, provider), DAT_RETURN(DAT_SUCCESS));
    EXPECT_TRUE(dat::known_provider(&provider));
    EXPECT_EQ(registry.remove(two, provider), DAT_RETURN(DAT_SUCCESS));
    EXPECT_FALSE(dat::known_provider(&provider));
}

// A provider that is there all the time is always seen, whatever comes and goes beside it.
TEST(DatKnownProvider, ReadersNeedNoLock) {
    static dat::KnownProviders known;
    std::vector<DAT_PROVIDER> tables(64);
    for (auto &table : tables)
        known.add(&table);
    std::atomic<bool> stop = false;
    std::atomic<int> looks = 0;
    std::atomic<int> missed = 0;
    {
        const std::jthread reader([&] {
            while (!stop) {
                missed += known.contains(&tables.back()) ? 0 : 1;
                ++looks;
            }
        });
        for (int round = 0; round < 2000 || looks == 0; ++round) {
            auto &table = tables[static_cast<std::size_t>(round) % 40];
            known.remove(&table);
            known.add(&table);
        }
        stop = true;
    }
    EXPECT_EQ(missed, 0);
}

} // namespace
