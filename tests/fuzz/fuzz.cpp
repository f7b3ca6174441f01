// SPDX-License-Identifier: GPL-2.0
// A fuzzer of /dev/rsm: random calls in random order on random handles, from
// a seed that is printed and can be given in RSM_FUZZ_SEED.
#include "corpus.hpp"
#include "operations.hpp"

#include "interconnects/testctl.hpp"
#include "support/child.hpp"
#include "support/raw.hpp"
#include "support/unchanged.hpp"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <gtest/gtest.h>
#include <memory>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace rsmtest;

namespace {

std::uint64_t seed()
{
    const char *given = std::getenv("RSM_FUZZ_SEED");
    const std::uint64_t chosen =
        given ? std::strtoull(given, nullptr, 0)
              : static_cast<std::uint64_t>(
                    std::chrono::steady_clock::now().time_since_epoch().count());
    std::printf("note: RSM_FUZZ_SEED=%llu\n", static_cast<unsigned long long>(chosen));
    return chosen;
}

std::chrono::seconds duration()
{
    const char *given = std::getenv("RSM_FUZZ_SECONDS");
    return std::chrono::seconds(given ? std::atoi(given) : 6);
}

// Calls of all processes of a test, in memory that they share.
using Calls = std::atomic<std::uint64_t>;

// Adds calls in small numbers: a call that ends the process takes the last of them with it.
void fuzz_by_chance(std::uint64_t own_seed, Calls &calls)
{
    fuzz::Chance chance(own_seed);
    fuzz::Fuzzer fuzzer;
    for (unsigned i = 0; i < 12500; i++)
        calls += fuzzer.run(chance, 16);
}

void expect_working_node()
{
    raw::Published published(1);
    ASSERT_TRUE(published.ok);
    const Fd imported = raw::open_segment();
    EXPECT_EQ(raw::connect(imported.get(), published.id), raw::success);
}

// Fuzzes until the time is over, and until a process has made calls. A process that a random call
// kills (it may unmap its own data) is replaced by one with the next seed.
void run_fuzzers(unsigned processes, const User *user)
{
    Unchanged unchanged;
    const Pages shared(1, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS);
    auto &calls = *shared.pointer<Calls>();
    const std::uint64_t first = seed();
    std::uint64_t next = first;
    const auto end = std::chrono::steady_clock::now() + duration();
    std::vector<std::unique_ptr<Child>> children(processes);
    const auto start = [&](std::unique_ptr<Child> &child) {
        const auto body = [&calls, own = next++](Link &) { fuzz_by_chance(own, calls); };
        child = user ? std::make_unique<Child>(*user, body) : std::make_unique<Child>(body);
    };
    for (auto &child : children)
        start(child);
    while (std::chrono::steady_clock::now() < end || calls == 0) {
        ASSERT_TRUE(calls > 0 || next - first < 1000) << "a thousand processes have made no call";
        for (auto &child : children) {
            if (waitpid(child->pid(), nullptr, WNOHANG) != 0) {
                child->abandon();
                start(child);
            }
        }
        usleep(20000);
    }
    children.clear();
    std::printf("note: %llu calls\n", static_cast<unsigned long long>(calls));
    expect_working_node();
}

// The next number that the child says, whenever that is; false at its end.
bool hears(Child &child, std::size_t &value)
{
    return read(child.link().descriptor(), &value, sizeof(value)) == sizeof(value);
}

// Inputs from one on; says the number of each before its calls.
void replay(const std::vector<fuzz::Bytes> &corpus, std::size_t first, Link &link, Calls &calls)
{
    fuzz::Nodes nodes;
    fuzz::Fuzzer fuzzer(&nodes, fuzz::Fuzzer::short_bursts);
    for (std::size_t i = first; i < corpus.size(); i++) {
        link.send(i);
        fuzz::Input input(corpus[i]);
        calls += fuzzer.run(input, fuzz::calls_per_input);
        fuzzer.reset();
    }
    link.send(corpus.size());
}

} // namespace

TEST(Fuzz, Robustness_one_process)
{
    run_fuzzers(1, nullptr);
}

TEST(Fuzz, Robustness_four_processes)
{
    run_fuzzers(4, nullptr);
}

TEST(Fuzz, Robustness_unprivileged_processes)
{
    const User user = alice();
    run_fuzzers(3, &user);
}

// Inputs that once were the first to reach some place of the kernel modules (see guided.cpp): each of
// them in one process, for its calls may be the end of it. Most inputs do not end their process.
TEST(Fuzz, Robustness_corpus)
{
    const TestControllers controllers;
    ASSERT_TRUE(controllers.loaded());
    Unchanged unchanged;
    const auto corpus = fuzz::load_corpus(fuzz::corpus_beside_program());
    ASSERT_FALSE(corpus.empty());
    const Pages shared(1, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS);
    auto &calls = *shared.pointer<Calls>();
    std::size_t next = 0;
    std::size_t deaths = 0;
    while (next < corpus.size()) {
        Child child([&](Link &link) { replay(corpus, next, link, calls); });
        while (next < corpus.size() && hears(child, next))
            ;
        if (next < corpus.size()) {
            next++;
            deaths++;
        }
        child.wait();
    }
    std::printf("note: %llu calls, %zu inputs ended their process\n",
                static_cast<unsigned long long>(calls), deaths);
    EXPECT_GT(calls, 0u);
    EXPECT_LT(deaths, corpus.size() / 2);
}
