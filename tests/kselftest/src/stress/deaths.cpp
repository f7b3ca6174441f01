// SPDX-License-Identifier: GPL-2.0
// Processes that are killed: how soon the other side knows, and what is left of them.
#include "support/child.hpp"
#include "support/raw.hpp"
#include "support/soak.hpp"
#include "support/unchanged.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <gtest/gtest.h>
#include <poll.h>
#include <random>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace rsmtest;
using raw::success;

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint32_t the_id = 0x620000;

void hang_up(int handle)
{
    pollfd entry{handle, POLLRDHUP, 0};
    ASSERT_EQ(poll(&entry, 1, -1), 1);
}

// Microseconds from the kill of an exporter to the end of the wait for it.
long long death_of_an_exporter()
{
    Child exporter([](Link &link) {
        const raw::Published own(4);
        link.send(own.id);
        pause();
    });
    const Fd handle = raw::open_segment();
    EXPECT_EQ(raw::connect(handle.get(), static_cast<std::uint32_t>(exporter.receive())), success);
    const auto begin = Clock::now();
    ::kill(exporter.pid(), SIGKILL);
    hang_up(handle.get());
    const auto took = Clock::now() - begin;
    EXPECT_EQ(WTERMSIG(exporter.wait()), SIGKILL);
    return std::chrono::duration_cast<std::chrono::microseconds>(took).count();
}

// All that a process can have, again and again.
void live(unsigned seed)
{
    std::minstd_rand random(seed);
    for (;;) {
        Pages memory(1 + random() % 8), other(memory.size() / page_size());
        const Fd exporter = raw::open_segment(), importer = raw::open_segment();
        const Fd control = raw::open_control();
        std::uint32_t id = the_id + random() % 4;
        raw::bind(exporter.get(), memory.data(), memory.size(), RSM_ALLOW_REBIND);
        raw::publish(exporter.get(), id);
        rsm_connect connect = raw::connect_argument(the_id + random() % 4, RSM_PERM_RDWR, control.get());
        if (raw::call(importer.get(), RSM_IOC_CONNECT, connect) != success)
            continue;
        void *base = raw::map(importer.get(), connect.length);
        const rsm_transfer_entry entry = raw::entry(other.data(), 0, page_size());
        raw::transfer(importer.get(), RSM_IOC_PUTV, {&entry, 1}, RSM_IMPLICIT_SIGPOST);
        raw::rebind(exporter.get(), other.data(), other.size());
        if (base)
            *static_cast<volatile std::uint64_t *>(base) = seed;
        if (random() % 2)
            raw::wait(importer.get(), 1000);
        if (base)
            munmap(base, connect.length);
    }
}

} // namespace

// It prints how long that takes; no limit.
TEST(Deaths, of_exporters_are_told)
{
    std::vector<long long> times;
    for (unsigned i = 0; i < soak_rounds(20) && !testing::Test::HasFailure(); i++)
        times.push_back(death_of_an_exporter());
    std::sort(times.begin(), times.end());
    const auto quantile = [&](std::size_t percent) {
        return times[std::min(times.size() - 1, times.size() * percent / 100)];
    };
    std::printf("note: deaths %zu p50 %lld p99 %lld\n", times.size(), quantile(50), quantile(99));
}

// Two at a time, which import from each other; the runner looks for what they leave.
TEST(Deaths, at_random_leave_nothing)
{
    Unchanged unchanged;
    std::minstd_rand random(soak_seed());
    unsigned killed = 0;
    while (killed < soak_rounds(40)) {
        Child one([&](Link &) { live(random()); });
        Child other([&](Link &) { live(random() + 1); });
        random();
        usleep(random() % 20000);
        one.kill();
        other.kill();
        killed += 2;
    }
    // The node still works.
    const raw::Published published(1);
    EXPECT_TRUE(published.ok);
    std::printf("note: killed %u\n", killed);
}
