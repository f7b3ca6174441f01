// SPDX-License-Identifier: GPL-2.0
// rsm-ivshmem-server when descriptors run out: no client is left hanging, no processor spins.
#include <chrono>
#include <csignal>
#include <gtest/gtest.h>
#include <thread>

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client.hpp"
#include "process.hpp"

namespace ivshmem::test {
namespace {

using namespace std::chrono_literals;

Process::Setup limit_descriptors(rlim_t count) {
    return [count] {
        const rlimit limit{count, count};
        setrlimit(RLIMIT_NOFILE, &limit);
    };
}

void set_limit(pid_t pid, rlim_t soft, rlim_t hard) {
    const rlimit limit{soft, hard};
    check_errno(prlimit(pid, RLIMIT_NOFILE, &limit, nullptr), "prlimit");
}

double used_in_a_second(pid_t pid) {
    const auto before = seconds_used(pid);
    std::this_thread::sleep_for(1s);
    return seconds_used(pid) - before;
}

// A guest whose processor is taken away takes that for time used, but not in each second. If the server spins, this
// does not return: the limit of the test's run ends it.
void expect_idle(pid_t pid) {
    while (used_in_a_second(pid) >= 0.2) {
    }
}

// Connects until the server refuses; returns who was let in.
std::vector<Client> fill(const Directory &directory, Server &server) {
    std::vector<Client> inside;
    for (;;) {
        Client client(directory.socket());
        if (!client.receive()) {
            break;
        }
        inside.push_back(std::move(client));
    }
    EXPECT_TRUE(server.says("client refused: Too many open files"));
    return inside;
}

// With one limit after the other the descriptors end at each point of taking a client in.
class Scarcity : public testing::TestWithParam<int> {};

TEST_P(Scarcity, RefusesAndGoesOn) {
    const Directory directory;
    Server server(directory, {"--vectors", "2"},
                  limit_descriptors(static_cast<rlim_t>(GetParam())));
    EXPECT_TRUE(server.says("some peers may be refused"));
    auto inside = fill(directory, server);
    ASSERT_GE(inside.size(), 2U);
    Client refused(directory.socket());
    EXPECT_TRUE(refused.closed());
    expect_idle(server.pid());

    const auto used = open_descriptors(server.pid());
    inside.back().leave();
    EXPECT_TRUE(eventually([&] { return open_descriptors(server.pid()) == used - 1; }));
    Client next(directory.socket());
    EXPECT_EQ(next.greeting(2).id, static_cast<std::int64_t>(inside.size()) - 1);
    EXPECT_EQ(server.end(SIGTERM), 0);
}

INSTANTIATE_TEST_SUITE_P(IvshmemServer, Scarcity, testing::Values(18, 19, 20));

// Without even the descriptor that is kept for the purpose clients have to wait, and are served
// when there are descriptors again.
TEST(IvshmemServerScarcity, NothingLeftAtAll) {
    const Directory directory;
    Server server(directory);
    rlimit before{};
    ASSERT_EQ(prlimit(server.pid(), RLIMIT_NOFILE, nullptr, &before), 0);
    set_limit(server.pid(), 3, before.rlim_max);
    Client client(directory.socket());
    EXPECT_TRUE(server.says("cannot accept clients for now: Too many open files"));
    expect_idle(server.pid());

    set_limit(server.pid(), before.rlim_cur, before.rlim_max);
    EXPECT_EQ(client.greeting().id, 0);
    EXPECT_EQ(server.end(SIGTERM), 0);
    EXPECT_EQ(server.lines(), 4U) << server.said();
}

// As an ordinary user, for whom descriptors on their way to clients count, too.
void become_nobody() {
    constexpr uid_t nobody = 65534;
    if (geteuid() == 0 && (setgid(nobody) != 0 || setuid(nobody) != 0)) {
        _exit(1);
    }
}

// Those that don't read are dropped; the one that waits because of them is kept, and served when
// they are gone. The time is long for it, which must not be dropped on a busy machine.
TEST(IvshmemServerScarcity, TooManyDescriptorsOnTheirWay) {
    const Directory directory;
    ASSERT_EQ(chmod(directory.file("").c_str(), 0777), 0);
    Server server(directory, {"--vectors", "20", "--patience", "20", "--mode", "666"}, [&] {
        limit_descriptors(100)();
        become_nobody();
    });
    std::vector<Client> sleepers;
    for (int i = 0; i < 3; i++) {
        sleepers.emplace_back(directory.socket());
    }
    Client reader(directory.socket());
    ASSERT_TRUE(reader.receive());
    ASSERT_TRUE(reader.receive());
    for (const auto *peer : {"0", "1", "2"}) {
        EXPECT_TRUE(server.says("peer " + std::string(peer) + " dropped: it doesn't read"));
    }
    expect_idle(server.pid());

    // Messages to them are on their way until they close their ends.
    sleepers.clear();
    EXPECT_EQ(reader.receive()->number, -1);
    for (std::int64_t id = 0; id < 4; id++) {
        expect_joined(reader, id, 20);
    }
    expect_nothing(server, reader);
}

} // namespace
} // namespace ivshmem::test
