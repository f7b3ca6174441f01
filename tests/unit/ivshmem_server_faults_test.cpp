// SPDX-License-Identifier: GPL-2.0
// Clients of rsm-ivshmem-server that vanish, hang, talk, or are too many: the others go on.
#include <chrono>
#include <csignal>
#include <gtest/gtest.h>
#include <optional>
#include <thread>

#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ivshmem_server_client.hpp"
#include "ivshmem_server_process.hpp"

namespace ivshmem::test {
namespace {

using namespace std::chrono_literals;

// More messages than are ever on their way to a client that doesn't read.
constexpr std::size_t many = 64;

// That the server still serves: somebody new, and everything about it comes to an old client.
void expect_alive(const Directory &directory, Client &old, std::size_t vectors = 1) {
    std::optional<Client> client(directory.socket());
    const auto id = client->greeting(vectors).id;
    expect_joined(old, id, vectors);
    client.reset();
    expect_left(old, id);
}

TEST(IvshmemServerFaults, OneTooMany) {
    const Directory directory;
    Server server(directory, {"--max-peers", "2"});
    Client first(directory.socket());
    first.greeting();
    std::optional<Client> second(directory.socket());
    second->greeting();
    expect_joined(first, 1);

    Client third(directory.socket());
    EXPECT_TRUE(third.closed());
    EXPECT_TRUE(server.says("client refused: all ids are taken (pid "));
    EXPECT_TRUE(first.silent());
    second.reset();
    expect_left(first, 1);
    expect_alive(directory, first);
    EXPECT_EQ(server.end(SIGTERM), 0);
    EXPECT_EQ(server.lines(), 8U) << server.said();
}

TEST(IvshmemServerFaults, SixtyFourPeersWithSixtyFourVectors) {
    const Directory directory;
    const Server server(directory, {"--max-peers", "64", "--vectors", "64"});
    std::vector<Client> clients;
    clients.reserve(64);
    for (std::int64_t id = 0; id < 64; id++) {
        auto &client = clients.emplace_back(directory.socket());
        const auto greeting = client.greeting(64);
        EXPECT_EQ(greeting.id, id);
        EXPECT_EQ(greeting.doorbells.size(), clients.size());
        for (std::int64_t old = 0; old < id; old++) {
            expect_joined(clients[static_cast<std::size_t>(old)], id, 64);
        }
    }
    Client one_more(directory.socket());
    EXPECT_TRUE(one_more.closed());
}

TEST(IvshmemServerFaults, WhoNeverReadsIsDropped) {
    const Directory directory;
    Server server(directory, {"--vectors", std::to_string(many), "--patience", "1"});
    Client reader(directory.socket());
    reader.greeting(many);
    Client sleeper(directory.socket());
    expect_joined(reader, 1, many);
    expect_alive(directory, reader, many);
    EXPECT_TRUE(server.says("peer 1 dropped: it doesn't read (pid "));
    expect_left(reader, 1);
    expect_alive(directory, reader, many);
}

TEST(IvshmemServerFaults, WhoReadsSlowlyIsKept) {
    const Directory directory;
    Server server(directory, {"--vectors", std::to_string(many), "--patience", "1"});
    Client client(directory.socket());
    for (int message = 0; message < 6; message++) {
        std::this_thread::sleep_for(500ms);
        ASSERT_TRUE(client.receive());
    }
    for (std::size_t message = 6; message < many + 3; message++) {
        ASSERT_TRUE(client.receive());
    }
    EXPECT_EQ(server.end(SIGTERM), 0);
    EXPECT_EQ(server.said().find("dropped"), std::string::npos);
}

// What comes and goes while a client doesn't read costs the server nothing, and the client is not
// told of what is over.
TEST(IvshmemServerFaults, ComingsAndGoingsDoNotPileUp) {
    const Directory directory;
    Server server(directory, {"--vectors", std::to_string(many)});
    Client sleeper(directory.socket());
    ASSERT_TRUE(server.says("peer 0 joined"));
    const auto descriptors = open_descriptors(server.pid());
    for (int round = 0; round < 20; round++) {
        Client(directory.socket()).greeting(many);
    }
    EXPECT_TRUE(eventually([&] { return open_descriptors(server.pid()) == descriptors; }));
    Client last(directory.socket());
    last.greeting(many);
    EXPECT_EQ(sleeper.greeting(many).doorbells.size(), 1U);
    expect_joined(sleeper, 1, many);
    last.leave();
    expect_left(sleeper, 1);
    EXPECT_TRUE(sleeper.silent());
}

// The messages about a peer that came and went, as often as it did, in no more than this order:
// some doorbells, its end, some doorbells, its end.
void expect_balanced(Client &client, std::int64_t peer, std::size_t vectors) {
    std::size_t doorbells = 0;
    while (!client.silent()) {
        const auto message = client.receive();
        ASSERT_TRUE(message);
        EXPECT_EQ(message->number, peer);
        EXPECT_TRUE(message->descriptor || doorbells > 0);
        doorbells = message->descriptor ? doorbells + 1 : 0;
        EXPECT_LE(doorbells, vectors);
    }
    EXPECT_EQ(doorbells, 0U);
}

// Told of some doorbells of a peer, the client is told that it is gone, and of nothing in between.
TEST(IvshmemServerFaults, HalfToldOfAPeerThatLeaves) {
    const Directory directory;
    Server server(directory, {"--vectors", std::to_string(many)});
    Client sleeper(directory.socket());
    sleeper.greeting(many);
    const auto descriptors = open_descriptors(server.pid());
    for (int round = 0; round < 3; round++) {
        EXPECT_EQ(Client(directory.socket()).greeting(many).id, 1);
        EXPECT_TRUE(eventually([&] { return open_descriptors(server.pid()) == descriptors; }));
    }
    std::size_t told = 0;
    auto message = sleeper.receive();
    for (; message && message->descriptor; message = sleeper.receive()) {
        EXPECT_EQ(message->number, 1);
        told++;
    }
    EXPECT_GT(told, 0U);
    EXPECT_LT(told, many);
    EXPECT_EQ(message->number, 1);
    expect_alive(directory, sleeper, many);
}

// Runs in a process of its own, up to some point of its handshake, and is killed there.
void die_after(const std::string &socket, int messages) {
    const Process victim({"sleep", "1000"}, [&] {
        Client client(socket);
        for (int message = 0; message < messages; message++) {
            client.receive();
        }
        raise(SIGKILL);
    });
    ASSERT_TRUE(eventually([&] {
        siginfo_t info{};
        return waitid(P_PID, static_cast<id_t>(victim.pid()), &info, WEXITED | WNOHANG | WNOWAIT) ==
                   0 &&
               info.si_pid == victim.pid();
    }));
}

TEST(IvshmemServerFaults, KilledInMidHandshake) {
    const Directory directory;
    const Server server(directory, {"--vectors", std::to_string(many)});
    Client witness(directory.socket());
    witness.greeting(many);
    const auto descriptors = open_descriptors(server.pid());
    for (int messages = 0; messages < 20; messages++) {
        die_after(directory.socket(), messages);
        EXPECT_TRUE(eventually([&] { return open_descriptors(server.pid()) == descriptors; }));
        expect_balanced(witness, 1, many);
    }
    expect_alive(directory, witness, many);
}

TEST(IvshmemServerFaults, KnockersDoNotStay) {
    const Directory directory;
    const Server server(directory);
    const auto descriptors = open_descriptors(server.pid());
    for (int round = 0; round < 300; round++) {
        const Client knocker(directory.socket());
    }
    EXPECT_TRUE(eventually([&] { return open_descriptors(server.pid()) == descriptors; }));
    Client client(directory.socket());
    EXPECT_EQ(client.greeting().id, 0);
}

TEST(IvshmemServerFaults, WhoTalksIsDropped) {
    const Directory directory;
    Server server(directory);
    Client quiet(directory.socket());
    quiet.greeting();
    Client talker(directory.socket());
    talker.greeting();
    expect_joined(quiet, 1);
    ASSERT_EQ(send(talker.connection(), "x", 1, MSG_NOSIGNAL), 1);
    EXPECT_TRUE(server.says("peer 1 dropped: it sends data (pid "));
    EXPECT_TRUE(talker.closed());
    expect_left(quiet, 1);
}

// Sends a descriptor; the connection goes with the caller's.
void send_descriptor(const Client &client) {
    const Descriptor event(eventfd(0, EFD_CLOEXEC));
    const int number = event.get();
    char byte = 0;
    iovec data{&byte, 1};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(number))] = {};
    msghdr header{};
    header.msg_iov = &data;
    header.msg_iovlen = 1;
    header.msg_control = control;
    header.msg_controllen = sizeof(control);
    auto *rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof(number));
    std::copy_n(reinterpret_cast<const char *>(&number), sizeof(number),
                reinterpret_cast<char *>(CMSG_DATA(rights)));
    ASSERT_EQ(sendmsg(client.connection(), &header, MSG_NOSIGNAL), 1);
}

TEST(IvshmemServerFaults, DescriptorsFromClientsAreNotKept) {
    const Directory directory;
    const Server server(directory);
    const auto descriptors = open_descriptors(server.pid());
    for (int round = 0; round < 10; round++) {
        Client talker(directory.socket());
        talker.greeting();
        send_descriptor(talker);
        EXPECT_TRUE(talker.closed());
    }
    EXPECT_TRUE(eventually([&] { return open_descriptors(server.pid()) == descriptors; }));
}

TEST(IvshmemServerFaults, HalfCloseIsAnEnd) {
    const Directory directory;
    Server server(directory);
    Client client(directory.socket());
    client.greeting();
    ASSERT_EQ(shutdown(client.connection(), SHUT_WR), 0);
    EXPECT_TRUE(client.closed());
    EXPECT_TRUE(server.says("peer 0 left (pid "));
}

} // namespace
} // namespace ivshmem::test
