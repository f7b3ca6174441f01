// SPDX-License-Identifier: GPL-2.0
// The registry with threads, across fork() and at the end of the process.
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <gtest/gtest.h>
#include <string>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "registry_fixture.h"

extern "C" void dat_late_call(void (*function)());

using namespace dat_test;

namespace {

const auto success = DAT_RETURN(DAT_SUCCESS);

void open_and_close(const std::string &name, int rounds) {
    for (int round = 0; round < rounds; ++round) {
        DAT_IA_HANDLE ia = nullptr;
        ASSERT_EQ(open(name, ia), success);
        ASSERT_EQ(close(ia), success);
    }
}

TEST(DatOpenThreads, OpenAndClose) {
    isolated(line("a0") + line("b0"), [] {
        constexpr int threads = 4;
        constexpr int rounds = 300;
        std::vector<std::jthread> workers;
        for (int i = 0; i < threads; ++i)
            workers.emplace_back([i] { open_and_close(i % 2 == 0 ? "a0" : "b0", rounds); });
        workers.clear();
        EXPECT_EQ(count_of_notes("open"), threads * rounds);
        EXPECT_EQ(count_of_notes("close"), threads * rounds);
        EXPECT_EQ(count_of_notes("init"), count_of_notes("fini"));
        EXPECT_EQ(count_of_notes("add-failed"), 0);
    });
}

// The library comes and goes while it is in use, unless counts are kept.
TEST(DatOpenThreads, OneStaysOpen) {
    isolated(line("a0"), [] {
        DAT_IA_HANDLE ia = nullptr;
        ASSERT_EQ(open("a0", ia), success);
        std::vector<std::jthread> workers;
        for (int i = 0; i < 3; ++i)
            workers.emplace_back([] { open_and_close("a0", 200); });
        workers.clear();
        EXPECT_EQ(count_of_notes("init"), 1);
        EXPECT_EQ(count_of_notes("fini"), 0);
        EXPECT_EQ(close(ia), success);
        EXPECT_EQ(count_of_notes("fini"), 1);
    });
}

TEST(DatOpenThreads, AddRemoveAndList) {
    isolated(line("a0"), [] {
        std::vector<std::jthread> workers;
        for (int i = 0; i < 3; ++i)
            workers.emplace_back([i] {
                const DAT_PROVIDER provider{};
                const auto mine = info("mine" + std::to_string(i));
                for (int round = 0; round < 500; ++round) {
                    ASSERT_EQ(dat_registry_add_provider(&provider, &mine), success);
                    DAT_PROVIDER_INFO entry;
                    DAT_PROVIDER_INFO *list[] = {&entry};
                    DAT_COUNT entries = 0;
                    ASSERT_EQ(dat_registry_list_providers(1, &entries, list), success);
                    ASSERT_STREQ(entry.ia_name, "a0");
                    ASSERT_EQ(dat_registry_remove_provider(&provider, &mine), success);
                }
            });
        open_and_close("a0", 200);
    });
}

TEST(DatOpenThreads, OneHandleClosedTwiceAtOnce) {
    isolated(line("a0"), [] {
        DAT_IA_HANDLE kept = nullptr;
        ASSERT_EQ(open("a0", kept), success);
        for (int round = 0; round < 200; ++round) {
            DAT_IA_HANDLE ia = nullptr;
            ASSERT_EQ(open("a0", ia), success);
            std::atomic<int> closed = 0;
            {
                const auto body = [&] { closed += close(ia) == success ? 1 : 0; };
                const std::jthread one(body);
                const std::jthread two(body);
            }
            ASSERT_EQ(closed, 1);
        }
        EXPECT_EQ(close(kept), success);
    });
}

// Opens in a child that may have been forked at any point of what the others do.
int fork_and_open() {
    const auto child = ::fork();
    if (child == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        DAT_IA_HANDLE ia = nullptr;
        const bool good = open("b0", ia) == success && close(ia) == success;
        ::_exit(good ? 0 : 1);
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    return status;
}

TEST(DatOpenThreads, Fork) {
    isolated(line("a0") + line("b0"), [] {
        std::atomic<bool> stop = false;
        std::vector<std::jthread> workers;
        for (int i = 0; i < 2; ++i)
            workers.emplace_back([&] {
                while (!stop)
                    open_and_close("a0", 1);
            });
        for (int i = 0; i < 100; ++i)
            EXPECT_EQ(fork_and_open(), 0);
        stop = true;
    });
}

TEST(DatOpenThreads, ForkWithAnOpenAdapter) {
    isolated(line("a0"), [] {
        DAT_IA_HANDLE ia = nullptr;
        ASSERT_EQ(open("a0", ia), success);
        const auto child = ::fork();
        if (child == 0)
            ::_exit(close(ia) == success && count_of_notes("fini") == 1 ? 0 : 1);
        int status = -1;
        ::waitpid(child, &status, 0);
        EXPECT_EQ(status, 0);
        EXPECT_EQ(count_of_notes("fini"), 0);
        EXPECT_EQ(close(ia), success);
        EXPECT_EQ(count_of_notes("fini"), 1);
    });
}

DAT_IA_HANDLE left_open = nullptr;
std::atomic<bool> worked_at_exit = false;

// Unloads the provider, too: the order of destructors depends on what is loaded.
void close_at_exit() {
    worked_at_exit = close(left_open) == success;
}

// Runs when the destructor of libdat has. A status says what it finds wrong.
void expect_torn_down() {
    const auto torn_down = failure(DAT_INVALID_STATE);
    const DAT_PROVIDER provider{};
    const auto mine = info("mine");
    DAT_COUNT entries = 0;
    DAT_PROVIDER_INFO entry;
    DAT_PROVIDER_INFO *list[] = {&entry};
    DAT_IA_HANDLE ia = nullptr;
    const bool good = worked_at_exit && open("a0", ia) == torn_down && ia == nullptr &&
                      close(left_open) == torn_down &&
                      dat_registry_add_provider(&provider, &mine) == torn_down &&
                      dat_registry_remove_provider(&provider, &mine) == torn_down &&
                      dat_registry_list_providers(1, &entries, list) == torn_down;
    ::_exit(good ? 42 : 1);
}

TEST(DatOpenThreads, EndOfTheProcess) {
    isolated(line("a0"), [] {
        const auto child = ::fork();
        if (child == 0) {
            open("a0", left_open);
            std::atexit(close_at_exit);
            dat_late_call(expect_torn_down);
            std::exit(0); // NOLINT: destructors are what this is about
        }
        int status = -1;
        ::waitpid(child, &status, 0);
        EXPECT_TRUE(WIFEXITED(status));
        EXPECT_EQ(WEXITSTATUS(status), 42);
    });
}

} // namespace
