// SPDX-License-Identifier: GPL-2.0
// A program that uses uDAPL and forks: the child has no handles, whatever it does to them; the
// parent goes on.
#include "dat/support/side.hpp"
#include "support/child.hpp"

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace rsmtest;
using namespace rsmtest::dat;

namespace {

class ForkDat : public testing::Test {
protected:
    void SetUp() override { b.accept_from(a); }

    void exchange(unsigned round) const
    {
        std::memset(a.memory.start, static_cast<int>(round), 4096);
        std::memset(b.memory.start, 0xee, 65536);
        EXPECT_OK(b.receive(100, 3000, round));
        EXPECT_OK(a.write(0, b.memory.remote(4000, 1000), round));
        EXPECT_OK(a.send(0, 3000, round));
        EXPECT_EQ(expect_completion(b.receives, round), 3000U);
        expect_completion(a.requests, round);
        expect_completion(a.requests, round);
        EXPECT_EQ(b.memory.start[100], static_cast<std::byte>(round));
        EXPECT_EQ(b.memory.start[4000], static_cast<std::byte>(round));
        EXPECT_EQ(b.memory.start[4999], static_cast<std::byte>(round));
        EXPECT_EQ(b.memory.start[5000], std::byte{0xee});
        EXPECT_OK(b.read(8192, a.memory.remote(50, 64), round));
        expect_completion(b.requests, round);
        EXPECT_EQ(b.memory.start[8192 + 63], static_cast<std::byte>(round));
    }

    Side a, b;
};

void misuse(const Side &side)
{
    DAT_EVENT event{};
    DAT_COUNT more = 0;
    EXPECT_TYPE(DAT_INVALID_HANDLE, side.send(0, 8, 1));
    EXPECT_TYPE(DAT_INVALID_HANDLE, side.receive(0, 8, 1));
    EXPECT_TYPE(DAT_INVALID_HANDLE, dat_ep_disconnect(side.ep, DAT_CLOSE_ABRUPT_FLAG));
    EXPECT_TYPE(DAT_INVALID_HANDLE, dat_ep_free(side.ep));
    EXPECT_TYPE(DAT_INVALID_HANDLE, dat_lmr_free(side.memory.lmr));
    EXPECT_TYPE(DAT_INVALID_HANDLE, dat_evd_dequeue(side.receives, &event));
    EXPECT_TYPE(DAT_INVALID_HANDLE, dat_evd_wait(side.receives, 1000, 1, &event, &more));
    EXPECT_TYPE(DAT_INVALID_HANDLE, dat_evd_free(side.arrivals));
    EXPECT_TYPE(DAT_INVALID_HANDLE, dat_pz_free(side.pz));
    EXPECT_TYPE(DAT_INVALID_HANDLE, dat_ia_close(side.adapter.ia, DAT_CLOSE_ABRUPT_FLAG));
}

} // namespace

TEST_F(ForkDat, child_misuses_handles)
{
    exchange(1);
    Child child([&](Link &link) {
        misuse(a);
        misuse(b);
        link.send();
        link.receive();
    });
    child.receive();
    exchange(2);
    child.send();
    child.expect_success();
    exchange(3);
    // Nothing has ended the connection before.
    EXPECT_OK(dat_ep_disconnect(a.ep, DAT_CLOSE_ABRUPT_FLAG));
    expect_event(a.connections, DAT_CONNECTION_EVENT_DISCONNECTED);
    expect_event(b.connections, DAT_CONNECTION_EVENT_DISCONNECTED);
}

TEST_F(ForkDat, child_opens_its_own)
{
    exchange(1);
    Child child([](Link &link) {
        Side c, d;
        d.accept_from(c);
        EXPECT_OK(d.receive(0, 64, 1));
        EXPECT_OK(c.send(0, 64, 2));
        EXPECT_EQ(expect_completion(d.receives, 1), 64U);
        link.send();
        link.receive();
    });
    child.receive();
    exchange(2);
    child.send();
    child.expect_success();
    exchange(3);
}

TEST_F(ForkDat, child_exits_with_all_destructors)
{
    const pid_t pid = fork();
    ASSERT_GE(pid, 0);
    if (pid == 0)
        std::exit(0);
    int status = -1;
    ASSERT_EQ(waitpid(pid, &status, 0), pid);
    EXPECT_EQ(status, 0);
    exchange(1);
}

TEST_F(ForkDat, child_outlives_the_parents_adapter)
{
    exchange(1);
    Child child([](Link &link) { link.receive(); });
    EXPECT_OK(dat_ep_disconnect(a.ep, DAT_CLOSE_ABRUPT_FLAG));
    expect_event(b.connections, DAT_CONNECTION_EVENT_DISCONNECTED);
    EXPECT_OK(dat_ia_close(a.adapter.ia, DAT_CLOSE_ABRUPT_FLAG));
    a.adapter.ia = a.memory.lmr = DAT_HANDLE_NULL;
    Side again;
    EXPECT_OK(dat_ep_reset(b.ep));
    b.accept_from(again);
    child.send();
    child.expect_success();
}

// They would keep handles that the parent closes.
TEST_F(ForkDat, child_has_no_descriptors_of_the_library)
{
    exchange(1);
    Child child([](Link &) {
        for (const auto &entry : std::filesystem::directory_iterator("/proc/self/fd")) {
            std::error_code gone;
            EXPECT_NE(std::filesystem::read_symlink(entry.path(), gone), "/dev/rsm");
        }
    });
    child.expect_success();
    exchange(2);
}

TEST_F(ForkDat, again_and_again_under_load)
{
    std::thread forker([] {
        for (int i = 0; i < 20; i++) {
            const pid_t pid = fork();
            if (pid == 0)
                _exit(0);
            ASSERT_GT(pid, 0);
            ASSERT_EQ(waitpid(pid, nullptr, 0), pid);
        }
    });
    for (unsigned round = 0; round < 50; round++)
        exchange(round);
    forker.join();
}
