// SPDX-License-Identifier: GPL-2.0
// Exports whose creator ends while a forked child holds the descriptors.
#include "support/loopback.hpp"
#include "support/raw.hpp"
#include "support/sequel.hpp"

#include <csignal>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace rsmtest;
using raw::status;
using raw::success;

namespace {

constexpr std::uint32_t the_id = 0x600050;

// Three generations: this process imports, its child exports, its grandchild
// inherits the export's descriptor and memory.
class Heir : public testing::Test {
protected:
    void SetUp() override
    {
        // An orphaned grandchild comes to us.
        ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
        heir_pid = static_cast<pid_t>(exporter.receive());
        ASSERT_GT(heir_pid, 0);
        ASSERT_EQ(raw::connect(imported.get(), the_id), success);
        base = static_cast<std::byte *>(raw::map(imported.get(), 2 * page_size()));
        ASSERT_NE(base, nullptr);
        EXPECT_EQ(at(), 111u);
    }
    void TearDown() override
    {
        if (base)
            munmap(base, 2 * page_size());
        exporter.kill();
        if (heir_pid > 0) {
            kill(heir_pid, SIGKILL);
            waitpid(heir_pid, nullptr, 0);
        }
    }
    volatile std::uint64_t &at() { return *reinterpret_cast<volatile std::uint64_t *>(base); }

    void serve(Link &link)
    {
        Pages pages(2);
        const Fd handle = raw::open_segment();
        ASSERT_EQ(raw::bind(handle.get(), pages.data(), pages.size(), RSM_ALLOW_REBIND), success);
        std::uint32_t id = the_id;
        ASSERT_EQ(raw::publish(handle.get(), id), success);
        pages.at() = 111;
        const pid_t heir = fork();
        if (heir == 0) {
            inherit(handle.get(), pages);
            _exit(testing::Test::HasFailure() ? 99 : 0);
        }
        link.send(static_cast<std::uint64_t>(heir));
        const std::uint64_t order = link.receive();
        if (order == 1)
            _exit(0);
        if (order == 2) {
            sleeper.exec();
        }
        if (order == 3)
            munmap(pages.data(), pages.size());
        link.send();
        link.receive();
    }

    // Waits for SIGUSR1, tries everything, and exits 0 if all was refused.
    static void inherit(int handle, const Pages &pages)
    {
        sigset_t wanted;
        sigemptyset(&wanted);
        sigaddset(&wanted, SIGUSR1);
        int signal = 0;
        sigwait(&wanted, &signal);
        Pages other(2);
        std::uint32_t id = the_id;
        EXPECT_NE(raw::publish(handle, id), success);
        EXPECT_NE(raw::rebind(handle, other.data(), other.size()), success);
        EXPECT_NE(raw::rebind(handle, pages.data(), pages.size()), success);
        EXPECT_NE(raw::republish(handle), success);
        EXPECT_NE(raw::unpublish(handle), success);
        EXPECT_EQ(raw::post(handle), success);
        EXPECT_EQ(pages.at(), 111u) << "its copy of the memory";
    }

    void expect_dead()
    {
        EXPECT_TRUE(eventually([&] {
            return raw::post(imported.get()) == status(RSMERR_CONN_ABORTED);
        })) << "the heir keeps the export alive";
        EXPECT_TRUE(eventually([&] { return at() == 0; }));
        at() = 5;
        const Fd again = raw::open_segment();
        EXPECT_TRUE(eventually([&] {
            return raw::connect(again.get(), the_id) == status(RSMERR_SEG_NOT_PUBLISHED);
        }));
        EXPECT_TRUE(eventually([] {
            Counters counters = kernel_counters();
            return counters.empty() || counters["pinned_pages"] == 0;
        })) << "the heir keeps the pages pinned";
        ASSERT_EQ(kill(heir_pid, 0), 0) << "there is no heir";
        kill(heir_pid, SIGUSR1);
        int ended = -1;
        EXPECT_TRUE(eventually([&] { return waitpid(heir_pid, &ended, WNOHANG) == heir_pid; }));
        heir_pid = 0;
        EXPECT_TRUE(WIFEXITED(ended) && WEXITSTATUS(ended) == 0) << ended;
    }

    pid_t heir_pid = 0;
    std::byte *base = nullptr;
    Child exporter{[this](Link &link) {
        sigset_t blocked;
        sigemptyset(&blocked);
        sigaddset(&blocked, SIGUSR1);
        sigprocmask(SIG_BLOCK, &blocked, nullptr);
        serve(link);
    }};
    Fd imported = raw::open_segment();
};

} // namespace

TEST_F(Heir, E14_exporter_killed)
{
    exporter.kill();
    expect_dead();
}

TEST_F(Heir, E14_exporter_exits)
{
    exporter.send(1);
    exporter.expect_success();
    expect_dead();
}

TEST_F(Heir, E15_exporter_execs)
{
    exporter.send(2);
    EXPECT_TRUE(eventually([&] {
        return raw::post(imported.get()) == status(RSMERR_CONN_ABORTED);
    }));
    exporter.kill();
    expect_dead();
}

TEST_F(Heir, exporter_unmaps)
{
    exporter.send(3);
    exporter.receive();
    EXPECT_TRUE(eventually([&] {
        return raw::post(imported.get()) == status(RSMERR_CONN_ABORTED);
    }));
    exporter.kill();
    expect_dead();
}
