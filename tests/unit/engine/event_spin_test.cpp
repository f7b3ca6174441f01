// SPDX-License-Identifier: GPL-2.0
// Spinning before a sleep.
#include "engine/event/spin.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <thread>

using rsmengine::Spin;
using rsmengine::SpinPolicy;

namespace {

cpu_set_t allowed_processors() {
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    EXPECT_EQ(sched_getaffinity(0, sizeof(allowed), &allowed), 0);
    return allowed;
}

cpu_set_t one_of(const cpu_set_t &set) {
    cpu_set_t one;
    CPU_ZERO(&one);
    int number = 0;
    while (!CPU_ISSET(number, &set))
        ++number;
    CPU_SET(number, &one);
    return one;
}

// True if a new thread that may run on these processors spins.
bool spins_on(const cpu_set_t &processors) {
    bool spins = false;
    std::thread([&] {
        ASSERT_EQ(sched_setaffinity(0, sizeof(processors), &processors), 0);
        SpinPolicy policy;
        spins = Spin(true, policy).worthwhile();
    }).join();
    return spins;
}

} // namespace

TEST(Spin, a_thread_with_one_processor_does_not_spin) {
    const cpu_set_t all = allowed_processors();
    EXPECT_FALSE(spins_on(one_of(all)));
    EXPECT_EQ(spins_on(all), CPU_COUNT(&all) > 1);
}

TEST(Spin, nothing_is_worthwhile_where_there_is_nothing_to_poll) {
    SpinPolicy policy;
    EXPECT_FALSE(Spin(false, policy).worthwhile());
}

TEST(Spin, after_four_misses_one_waiter_of_sixteen_spins) {
    SpinPolicy policy;
    for (int i = 0; i < 4; ++i) {
        EXPECT_TRUE(policy.next());
        policy.learn(false);
    }
    int spins = 0;
    for (int i = 0; i < 32; ++i)
        spins += policy.next() ? 1 : 0;
    EXPECT_EQ(spins, 2);
    policy.learn(true);
    EXPECT_TRUE(policy.next());
}
