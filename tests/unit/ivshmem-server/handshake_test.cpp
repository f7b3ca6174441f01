// SPDX-License-Identifier: GPL-2.0
// The handshake of clients with rsm-ivshmem-server when all goes well.
#include <csignal>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client.hpp"
#include "process.hpp"

namespace ivshmem::test {
namespace {

using Numbers = std::vector<std::int64_t>;
using Flags = std::vector<bool>;

off_t size_of(const Descriptor &memory) {
    struct stat status {};
    check_errno(fstat(memory.get(), &status), "fstat");
    return status.st_size;
}

TEST(IvshmemServer, FirstClient) {
    const Directory directory;
    Server server(directory);
    Client client(directory.socket());
    const auto greeting = client.greeting();
    EXPECT_EQ(greeting.numbers, (Numbers{0, 0, -1, 0}));
    EXPECT_EQ(greeting.with_descriptor, (Flags{false, false, true, true}));
    EXPECT_TRUE(server.says("peer 0 joined (pid " + std::to_string(getpid()) + ", uid " +
                            std::to_string(geteuid()) + ")"));
    expect_nothing(server, client);
}

TEST(IvshmemServer, SecondClientAndFirst) {
    const Directory directory;
    Server server(directory);
    Client first(directory.socket());
    first.greeting();
    Client second(directory.socket());
    const auto greeting = second.greeting();
    EXPECT_EQ(greeting.numbers, (Numbers{0, 1, -1, 0, 1}));
    EXPECT_EQ(greeting.with_descriptor, (Flags{false, false, true, true, true}));
    expect_joined(first, 1);
    expect_nothing(server, first);
    EXPECT_TRUE(second.closed());
}

TEST(IvshmemServer, OneDoorbellForEachVector) {
    const Directory directory;
    Server server(directory, {"--vectors", "3"});
    Client first(directory.socket());
    first.greeting(3);
    Client second(directory.socket());
    EXPECT_EQ(second.greeting(3).numbers, (Numbers{0, 1, -1, 0, 0, 0, 1, 1, 1}));
    expect_joined(first, 1, 3);
    expect_nothing(server, first);
}

void leave(const Server &server, Client &client) {
    ASSERT_TRUE(notices_end(server, [&] { client.leave(); }));
}

TEST(IvshmemServer, LeavingIsNotAnnounced) {
    const Directory directory;
    Server server(directory);
    Client first(directory.socket());
    first.greeting();
    Client second(directory.socket());
    second.greeting();
    expect_joined(first, 1);
    leave(server, second);
    EXPECT_TRUE(server.says("peer 1 left (pid "));
    expect_nothing(server, first);
}

// A newcomer is told of every id that was ever used, whether or not somebody has it.
TEST(IvshmemServer, LowestFreeIdIsTaken) {
    const Directory directory;
    const Server server(directory);
    std::vector<Client> clients;
    for (std::int64_t id = 0; id < 4; id++) {
        EXPECT_EQ(clients.emplace_back(directory.socket()).greeting().id, id);
    }
    for (std::int64_t id = 1; id < 4; id++) {
        expect_joined(clients[0], id);
    }
    leave(server, clients[2]);
    leave(server, clients[1]);
    EXPECT_EQ(clients.emplace_back(directory.socket()).greeting().numbers,
              (Numbers{0, 1, -1, 0, 2, 3, 1}));
    EXPECT_EQ(clients.emplace_back(directory.socket()).greeting().id, 2);
    EXPECT_EQ(clients.emplace_back(directory.socket()).greeting().id, 4);
    // The first client has heard of none of the others.
    expect_joined(clients[0], 4);
}

// Each of the caller's doorbells at the other reaches its own vector and nobody else.
void expect_connected(const std::vector<Descriptor> &remote, const std::vector<Descriptor> &own,
                      const std::vector<Descriptor> &others) {
    ASSERT_EQ(remote.size(), own.size());
    for (std::size_t vector = 0; vector < own.size(); vector++) {
        ring(remote[vector]);
        for (std::size_t other = 0; other < own.size(); other++) {
            EXPECT_EQ(has_rung(own[other]), other == vector);
        }
    }
    for (const auto &doorbell : others) {
        EXPECT_FALSE(has_rung(doorbell));
    }
}

TEST(IvshmemServer, DoorbellsConnectPeers) {
    const Directory directory;
    const Server server(directory, {"--vectors", "4"});
    Client first(directory.socket());
    auto at_first = first.greeting(4);
    Client second(directory.socket());
    auto at_second = second.greeting(4);
    Client third(directory.socket());
    auto at_third = third.greeting(4);
    at_first.doorbells[1] = expect_joined(first, 1, 4);
    at_first.doorbells[2] = expect_joined(first, 2, 4);
    at_second.doorbells[2] = expect_joined(second, 2, 4);

    expect_connected(at_first.doorbells[1], at_second.doorbells[1], at_third.doorbells[2]);
    expect_connected(at_second.doorbells[0], at_first.doorbells[0], at_third.doorbells[2]);
    expect_connected(at_third.doorbells[0], at_first.doorbells[0], at_second.doorbells[1]);
    expect_connected(at_second.doorbells[2], at_third.doorbells[2], at_first.doorbells[0]);
}

// The doorbells of an id are the same for each of its holders, so those that know them already
// are told nothing.
TEST(IvshmemServer, DoorbellsStayWithTheId) {
    const Directory directory;
    Server server(directory, {"--vectors", "2"});
    Client old(directory.socket());
    auto at_old = old.greeting(2);
    Client holder(directory.socket());
    holder.greeting(2);
    at_old.doorbells[1] = expect_joined(old, 1, 2);
    for (int round = 0; round < 3; round++) {
        leave(server, holder);
        holder = Client(directory.socket());
        const auto at_holder = holder.greeting(2);
        ASSERT_EQ(at_holder.id, 1);
        expect_connected(at_old.doorbells[1], at_holder.doorbells.at(1), at_old.doorbells[0]);
        expect_connected(at_holder.doorbells.at(0), at_old.doorbells[0], at_holder.doorbells.at(1));
    }
    expect_nothing(server, old);
}

// Somebody who joined while an id was vacant knows the doorbells of its next holder, too.
TEST(IvshmemServer, JoinedWhileAnIdWasVacant) {
    const Directory directory;
    Server server(directory);
    std::vector<Client> clients;
    for (int id = 0; id < 4; id++) {
        clients.emplace_back(directory.socket()).greeting();
    }
    leave(server, clients[3]);
    leave(server, clients[2]);
    Client third(directory.socket());
    const auto at_third = third.greeting();
    EXPECT_EQ(at_third.numbers, (Numbers{0, 2, -1, 0, 1, 3, 2}));
    Client fourth(directory.socket());
    const auto at_fourth = fourth.greeting();
    ASSERT_EQ(at_fourth.id, 3);
    expect_connected(at_third.doorbells.at(3), at_fourth.doorbells.at(3), at_third.doorbells.at(2));
    expect_nothing(server, third);
}

// Bells for nobody, or for the last holder, are not for the next one.
TEST(IvshmemServer, DoorbellsAreHandedOverSilent) {
    const Directory directory;
    const Server server(directory, {"--vectors", "2"});
    Client old(directory.socket());
    old.greeting(2);
    Client holder(directory.socket());
    holder.greeting(2);
    const auto remote = expect_joined(old, 1, 2);
    ring(remote.at(0));
    leave(server, holder);
    ring(remote.at(0));
    ring(remote.at(1));
    Client next(directory.socket());
    const auto greeting = next.greeting(2);
    ASSERT_EQ(greeting.id, 1);
    EXPECT_FALSE(has_rung(greeting.doorbells.at(1).at(0)));
    EXPECT_FALSE(has_rung(greeting.doorbells.at(1).at(1)));
    ring(remote.at(1));
    EXPECT_TRUE(has_rung(greeting.doorbells.at(1).at(1)));
}

// QEMU's main loop must not hang on a doorbell, whoever has emptied or filled it.
TEST(IvshmemServer, DoorbellsDoNotBlock) {
    const Directory directory;
    const Server server(directory);
    Client client(directory.socket());
    const auto greeting = client.greeting();
    EXPECT_NE(fcntl(greeting.doorbells.at(0).at(0).get(), F_GETFL) & O_NONBLOCK, 0);
}

TEST(IvshmemServer, MemoryIsSharedZeroedAndSealed) {
    constexpr std::size_t size = std::size_t{4} << 20U;
    const Directory directory;
    const Server server(directory, {"--size", "4M"});
    Client first(directory.socket());
    Client second(directory.socket());
    const auto memory = first.greeting().memory;
    EXPECT_EQ(size_of(memory), static_cast<off_t>(size));
    EXPECT_EQ(fcntl(memory.get(), F_GET_SEALS), F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
    EXPECT_LT(ftruncate(memory.get(), 0), 0);
    EXPECT_LT(ftruncate(memory.get(), 2 * static_cast<off_t>(size)), 0);

    const Window window(memory, size);
    const Window other(second.greeting().memory, size);
    EXPECT_TRUE(window.zeroed());
    window.word(size / 8 - 1) = 42;
    EXPECT_EQ(other.word(size / 8 - 1), 42U);
}

TEST(IvshmemServer, SizesOfMemory) {
    const std::vector<std::pair<std::string, off_t>> sizes = {
        {"4194304", off_t{4} << 20U}, {"8192K", off_t{8} << 20U}, {"1G", off_t{1} << 30U}};
    for (const auto &[text, size] : sizes) {
        const Directory directory;
        const Server server(directory, {"--size", text});
        Client client(directory.socket());
        EXPECT_EQ(size_of(client.greeting().memory), size) << text;
    }
    const Directory directory;
    const Server server(directory);
    Client client(directory.socket());
    EXPECT_EQ(size_of(client.greeting().memory), off_t{64} << 20U);
}

// Memory with a name, which goes with the test.
class SharedName {
  public:
    SharedName() : name_("/ivshmem-test." + std::to_string(getpid())) {}
    SharedName(const SharedName &) = delete;
    SharedName &operator=(const SharedName &) = delete;
    ~SharedName() { shm_unlink(name_.c_str()); }

    const std::string &name() const { return name_; }

  private:
    std::string name_;
};

TEST(IvshmemServer, NamedMemorySurvivesTheServer) {
    constexpr std::size_t size = std::size_t{4} << 20U;
    const SharedName shared;
    const Directory directory;
    const std::vector<std::string> options = {"--size", "4M", "--shm-name", shared.name()};
    {
        Server server(directory, options);
        Client client(directory.socket());
        const Window window(client.greeting().memory, size);
        EXPECT_TRUE(window.zeroed());
        window.word(7) = 42;
        EXPECT_EQ(server.end(SIGTERM), 0);
    }
    const Server server(directory, options);
    Client client(directory.socket());
    const Window window(client.greeting().memory, size);
    EXPECT_EQ(window.word(7), 42U);
}

TEST(IvshmemServer, NamedMemoryMustFit) {
    const SharedName shared;
    const Directory directory;
    { const Server server(directory, {"--size", "4M", "--shm-name", shared.name()}); }
    Process other(server_command(
        {"--socket", directory.socket(), "--size", "8M", "--shm-name", shared.name()}));
    EXPECT_EQ(other.wait(), 1);
    EXPECT_EQ(other.lines(), 1U) << other.said();
}

TEST(IvshmemServer, NamedMemoryMustNotBeOpenToOthers) {
    const SharedName shared;
    const Directory directory;
    const Descriptor memory(shm_open(shared.name().c_str(), O_RDWR | O_CREAT | O_EXCL, 0600));
    ASSERT_EQ(fchmod(memory.get(), 0660), 0);
    Process server(server_command({"--socket", directory.socket(), "--shm-name", shared.name()}));
    EXPECT_EQ(server.wait(), 1);
    EXPECT_EQ(server.lines(), 1U) << server.said();
}

} // namespace
} // namespace ivshmem::test
