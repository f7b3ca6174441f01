// SPDX-License-Identifier: GPL-2.0
// Clients of rsm-ivshmem-server that vanish, hang, talk, or are too many: the others go on.
#include <chrono>
#include <csignal>
#include <gtest/gtest.h>
#include <thread>

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client.hpp"
#include "process.hpp"

namespace ivshmem::test {
namespace {

using namespace std::chrono_literals;

// More messages than are ever on their way to a client that doesn't read.
constexpr std::size_t many = 64;

// That the server still serves: somebody new comes in, and reaches somebody old.
void expect_alive(const Directory &directory, const Greeting &old, std::size_t vectors = 1) {
    Client client(directory.socket());
    const auto greeting = client.greeting(vectors);
    ring(greeting.doorbells.at(old.id).at(vectors - 1));
    EXPECT_TRUE(has_rung(old.doorbells.at(old.id).at(vectors - 1)));
}

TEST(IvshmemServerFaults, OneTooMany) {
    const Directory directory;
    Server server(directory, {"--max-peers", "2"});
    Client first(directory.socket());
    const auto greeting = first.greeting();
    Client second(directory.socket());
    second.greeting();
    expect_joined(first, 1);

    Client third(directory.socket());
    EXPECT_TRUE(third.closed());
    EXPECT_TRUE(server.says("client refused: all ids are taken (pid "));
    second.leave();
    EXPECT_TRUE(server.says("peer 1 left (pid "));
    expect_alive(directory, greeting);
    expect_nothing(server, first);
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

// The time is long for the reader, which must not be dropped on a busy machine.
TEST(IvshmemServerFaults, WhoNeverReadsIsDropped) {
    const Directory directory;
    Server server(directory, {"--vectors", std::to_string(many), "--patience", "20"});
    Client reader(directory.socket());
    const auto greeting = reader.greeting(many);
    Client sleeper(directory.socket());
    expect_joined(reader, 1, many);
    expect_alive(directory, greeting, many);
    expect_joined(reader, 2, many);
    EXPECT_TRUE(server.says("peer 1 dropped: it doesn't read (pid "));
    expect_alive(directory, greeting, many);
    expect_nothing(server, reader);
}

TEST(IvshmemServerFaults, WhoReadsSlowlyIsKept) {
    const Directory directory;
    Server server(directory, {"--vectors", std::to_string(many), "--patience", "20"});
    Client client(directory.socket());
    for (int message = 0; message < 6; message++) {
        std::this_thread::sleep_for(4s);
        ASSERT_TRUE(client.receive());
    }
    for (std::size_t message = 6; message < many + 3; message++) {
        ASSERT_TRUE(client.receive());
    }
    EXPECT_EQ(server.end(SIGTERM), 0);
    EXPECT_EQ(server.said().find("dropped"), std::string::npos);
}

// However many come and go while a client doesn't read, it costs the server nothing more than the
// doorbells of their id, and the client is told of these once.
TEST(IvshmemServerFaults, ComingsAndGoingsDoNotPileUp) {
    const Directory directory;
    Server server(directory, {"--vectors", std::to_string(many)});
    Client sleeper(directory.socket());
    ASSERT_TRUE(server.says("peer 0 joined"));
    const auto descriptors = open_descriptors(server.pid()) + many;
    for (int round = 0; round < 20; round++) {
        EXPECT_EQ(Client(directory.socket()).greeting(many).id, 1);
        ASSERT_TRUE(eventually([&] { return open_descriptors(server.pid()) == descriptors; }));
    }
    EXPECT_EQ(sleeper.greeting(many).doorbells.size(), 1U);
    expect_joined(sleeper, 1, many);
    expect_nothing(server, sleeper);
}

// Told of some doorbells of a peer that leaves, a client is told of the others, too: they are those
// of the next one.
TEST(IvshmemServerFaults, HalfToldOfAPeerThatLeaves) {
    const Directory directory;
    Server server(directory, {"--vectors", std::to_string(many)});
    Client sleeper(directory.socket());
    const auto greeting = sleeper.greeting(many);
    Client(directory.socket()).greeting(many);
    ASSERT_TRUE(server.says("peer 1 left (pid "));
    Client next(directory.socket());
    const auto at_next = next.greeting(many);
    ASSERT_EQ(at_next.id, 1);
    const auto remote = expect_joined(sleeper, 1, many);
    for (std::size_t vector = 0; vector < many; vector++) {
        ring(remote.at(vector));
        EXPECT_TRUE(has_rung(at_next.doorbells.at(1).at(vector)));
    }
    next.leave();
    expect_alive(directory, greeting, many);
    expect_nothing(server, sleeper);
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
    Server server(directory, {"--vectors", std::to_string(many)});
    Client witness(directory.socket());
    const auto greeting = witness.greeting(many);
    const auto descriptors = open_descriptors(server.pid()) + many;
    for (int messages = 0; messages < 20; messages++) {
        die_after(directory.socket(), messages);
        EXPECT_TRUE(eventually([&] { return open_descriptors(server.pid()) == descriptors; }));
    }
    expect_joined(witness, 1, many);
    expect_alive(directory, greeting, many);
    expect_nothing(server, witness);
}

TEST(IvshmemServerFaults, KnockersDoNotStay) {
    const Directory directory;
    const Server server(directory, {"--max-peers", "8"});
    const auto descriptors = open_descriptors(server.pid()) + 8;
    std::vector<Client> clients;
    for (int id = 0; id < 8; id++) {
        clients.emplace_back(directory.socket()).greeting();
    }
    clients.clear();
    for (int round = 0; round < 300; round++) {
        const Client knocker(directory.socket());
    }
    // All of them have been let in, or refused, once this one has an answer of either kind.
    Client(directory.socket()).receive();
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
    expect_nothing(server, quiet);
}

// The server empties doorbells that others had before it.
TEST(IvshmemServerFaults, DoorbellsThatWereMadeToBlock) {
    const Directory directory;
    Server server(directory, {"--vectors", "2"});
    Client client(directory.socket());
    const auto greeting = client.greeting(2);
    for (const auto &doorbell : greeting.doorbells.at(0)) {
        ASSERT_EQ(fcntl(doorbell.get(), F_SETFL, 0), 0);
    }
    client.leave();
    ASSERT_TRUE(server.says("peer 0 left (pid "));
    Client next(directory.socket());
    EXPECT_EQ(next.greeting(2).id, 0);
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
    const auto descriptors = open_descriptors(server.pid()) + 1;
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
