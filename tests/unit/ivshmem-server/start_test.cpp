// SPDX-License-Identifier: GPL-2.0
// Options, socket files, activation by systemd, and the end of rsm-ivshmem-server.
#include <array>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <memory>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "client.hpp"
#include "process.hpp"

namespace ivshmem::test {
namespace {

namespace fs = std::filesystem;

void expect_failure(std::vector<std::string> options, int status, const Process::Setup &setup) {
    const auto last = options.back();
    Process server(server_command(std::move(options)), setup);
    EXPECT_EQ(server.wait(), status) << last << ": " << server.said();
    EXPECT_EQ(server.lines(), 1U) << last << ": " << server.said();
}

void expect_failure(std::vector<std::string> options, int status) {
    expect_failure(std::move(options), status, [] {});
}

TEST(IvshmemServerStart, BadOptions) {
    const std::vector<std::vector<std::string>> bad = {
        {"--size", "0"},
        {"--size", "2M"},
        {"--size", "4M4"},
        {"--size", "6M"},
        {"--size", "64m"},
        {"--size", "2048G"},
        {"--size", "-4M"},
        {"--size", ""},
        {"--size", "M"},
        {"--size", "18014398509481984K"},
        {"--vectors", "0"},
        {"--vectors", "65"},
        {"--vectors", "x"},
        {"--max-peers", "0"},
        {"--max-peers", "65"},
        {"--max-peers", "-1"},
        {"--mode", "888"},
        {"--mode", "1777"},
        {"--mode", ""},
        {"--group", "no-such-group"},
        {"--shm-name", "/a/b"},
        {"--shm-name", "/"},
        {"--shm-name", ".."},
        {"--socket", ""},
        {"--socket", std::string(108, 'x')},
        {"--patience", "0"},
        {"--patience", "3601"},
        {"--unknown"},
        {"argument"},
    };
    for (const auto &options : bad) {
        expect_failure(options, 2);
    }
}

TEST(IvshmemServerStart, Help) {
    Process server(server_command({"--help"}), [] { dup2(STDERR_FILENO, STDOUT_FILENO); });
    EXPECT_EQ(server.wait(), 0);
    for (const auto *option : {"--socket", "--size", "--vectors", "--max-peers", "--shm-name",
                               "--mode", "--group", "--patience"}) {
        EXPECT_NE(server.said().find(option), std::string::npos) << option;
    }
}

TEST(IvshmemServerStart, EndsBySignalAndLeavesNothing) {
    for (const int number : {SIGTERM, SIGINT}) {
        const Directory directory;
        Server server(directory);
        Client client(directory.socket());
        client.greeting();
        EXPECT_EQ(server.end(number), 0);
        EXPECT_TRUE(client.closed());
        EXPECT_TRUE(fs::is_empty(directory.file("")));
    }
}

struct stat status_of(const std::string &path) {
    struct stat status {};
    check_errno(lstat(path.c_str(), &status), path);
    return status;
}

TEST(IvshmemServerStart, ModeAndGroup) {
    {
        const Directory directory;
        const Server server(directory);
        EXPECT_EQ(status_of(directory.socket()).st_mode, S_IFSOCK | 0660U);
    }
    const Directory directory;
    const auto group = geteuid() == 0 ? gid_t{12345} : getegid();
    const Server server(directory, {"--mode", "0606", "--group", std::to_string(group)});
    EXPECT_EQ(status_of(directory.socket()).st_mode, S_IFSOCK | 0606U);
    EXPECT_EQ(status_of(directory.socket()).st_gid, group);
}

// A socket bound to a path, by somebody who is no ivshmem server.
Descriptor bound_socket(const std::string &path, int type = SOCK_STREAM) {
    Descriptor socket(check_errno(::socket(AF_UNIX, type | SOCK_CLOEXEC, 0), "socket"));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof(address.sun_path) - 1);
    check_errno(bind(socket.get(), reinterpret_cast<sockaddr *>(&address), sizeof(address)), path);
    return socket;
}

Descriptor listening_socket(const std::string &path) {
    auto socket = bound_socket(path);
    check_errno(listen(socket.get(), 8), path);
    return socket;
}

TEST(IvshmemServerStart, SocketOfADeadServerIsReplaced) {
    const Directory directory;
    {
        Server server(directory);
        EXPECT_EQ(server.end(SIGKILL), -SIGKILL);
    }
    ASSERT_TRUE(fs::is_socket(directory.socket()));
    const Server server(directory);
    Client client(directory.socket());
    EXPECT_EQ(client.greeting().id, 0);
}

TEST(IvshmemServerStart, SocketOfAnotherDeadProgramIsReplaced) {
    const Directory directory;
    bound_socket(directory.socket());
    const Server server(directory);
    Client client(directory.socket());
    EXPECT_EQ(client.greeting().id, 0);
}

TEST(IvshmemServerStart, SocketOfALiveServerIsNotTaken) {
    const Directory directory;
    Server server(directory);
    Client before(directory.socket());
    before.greeting();
    expect_failure({"--socket", directory.socket()}, 1);
    Client after(directory.socket());
    EXPECT_EQ(after.greeting().id, 1);
    expect_joined(before, 1);
    expect_nothing(server, before);
}

TEST(IvshmemServerStart, SocketOfAnotherLiveProgramIsNotTaken) {
    const Directory directory;
    const auto other = listening_socket(directory.socket());
    const auto inode = status_of(directory.socket()).st_ino;
    expect_failure({"--socket", directory.socket()}, 1);
    EXPECT_EQ(status_of(directory.socket()).st_ino, inode);
    EXPECT_FALSE(fs::exists(directory.socket() + ".lock"));
}

TEST(IvshmemServerStart, OtherFilesAreNotTouched) {
    const Directory directory;
    std::ofstream(directory.socket()) << "precious";
    expect_failure({"--socket", directory.socket()}, 1);
    EXPECT_EQ(fs::file_size(directory.socket()), 8U);
    EXPECT_FALSE(fs::exists(directory.socket() + ".lock"));
    expect_failure({"--socket", directory.file("missing/s")}, 1);
}

TEST(IvshmemServerStart, SocketThatIsNotItsOwnIsNotRemoved) {
    const Directory directory;
    Server server(directory);
    fs::remove(directory.socket());
    const auto other = listening_socket(directory.socket());
    EXPECT_EQ(server.end(SIGTERM), 0);
    EXPECT_TRUE(fs::is_socket(directory.socket()));
}

// One of them serves, in whatever order they come, and the others say so.
TEST(IvshmemServerStart, ManyAtOnce) {
    for (int round = 0; round < 5; round++) {
        const Directory directory;
        bound_socket(directory.socket());
        std::vector<std::unique_ptr<Process>> servers;
        for (int i = 0; i < 8; i++) {
            servers.push_back(
                std::make_unique<Process>(server_command({"--socket", directory.socket()})));
        }
        int serving = 0;
        for (const auto &server : servers) {
            serving += server->says("ready") ? 1 : 0;
        }
        EXPECT_EQ(serving, 1);
        Client client(directory.socket());
        EXPECT_EQ(client.greeting().id, 0);
    }
}

// In the child: the socket as descriptor 3, as systemd passes it.
Process::Setup pass(int socket, const char *count = "1", pid_t pid = 0) {
    return [=] {
        // dup2() to itself would leave the descriptor to be closed by exec.
        const int copy = dup(socket);
        dup2(copy, 3);
        setenv("LISTEN_FDS", count, 1);
        setenv("LISTEN_FDNAMES", "rsm-ivshmem.socket", 1);
        setenv("LISTEN_PID", std::to_string(pid == 0 ? getpid() : pid).c_str(), 1);
    };
}

TEST(IvshmemServerStart, SocketFromSystemd) {
    const Directory directory;
    const auto socket = listening_socket(directory.file("passed"));
    // Knocks before there is a server.
    Client early(directory.file("passed"));
    Server server(directory, {}, pass(socket.get()));
    EXPECT_EQ(early.greeting().id, 0);
    Client late(directory.file("passed"));
    EXPECT_EQ(late.greeting().id, 1);
    EXPECT_FALSE(fs::exists(directory.socket()));
    EXPECT_EQ(server.end(SIGTERM), 0);
    EXPECT_TRUE(fs::is_socket(directory.file("passed")));

    const Server again(directory, {}, pass(socket.get()));
    Client client(directory.file("passed"));
    EXPECT_EQ(client.greeting().id, 0);
}

TEST(IvshmemServerStart, SocketForAnotherProcess) {
    const Directory directory;
    const auto socket = listening_socket(directory.file("passed"));
    const Server server(directory, {}, pass(socket.get(), "1", 1));
    Client client(directory.socket());
    EXPECT_EQ(client.greeting().id, 0);
}

TEST(IvshmemServerStart, PassedWhatItCannotUse) {
    const Directory directory;
    const std::vector<std::string> options = {"--socket", directory.socket()};
    const auto good = listening_socket(directory.file("good"));
    const auto deaf = bound_socket(directory.file("deaf"));
    const auto datagrams = bound_socket(directory.file("datagrams"), SOCK_DGRAM);
    const Descriptor file(open("/dev/null", O_RDWR | O_CLOEXEC));
    expect_failure(options, 1, pass(good.get(), "2"));
    expect_failure(options, 1, pass(good.get(), "x"));
    expect_failure(options, 1, pass(deaf.get()));
    expect_failure(options, 1, pass(datagrams.get()));
    expect_failure(options, 1, pass(file.get()));
}

std::string next_datagram(const Descriptor &socket) {
    std::array<char, 100> text{};
    const auto got = check_errno(recv(socket.get(), text.data(), text.size(), 0), "recv");
    return {text.data(), static_cast<std::size_t>(got)};
}

TEST(IvshmemServerStart, TellsSystemdWhenItIsReady) {
    const Directory directory;
    const auto socket = bound_socket(directory.file("notify"), SOCK_DGRAM);
    Server server(directory, {},
                  [&] { setenv("NOTIFY_SOCKET", directory.file("notify").c_str(), 1); });
    EXPECT_EQ(next_datagram(socket), "READY=1");
    EXPECT_EQ(server.end(SIGTERM), 0);
    EXPECT_EQ(next_datagram(socket), "STOPPING=1");
}

TEST(IvshmemServerStart, TellsSystemdAtAnAbstractAddress) {
    const Directory directory;
    const Descriptor socket(check_errno(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), "socket"));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const auto name = "ivshmem-test." + std::to_string(getpid());
    name.copy(address.sun_path + 1, sizeof(address.sun_path) - 1);
    const auto length = offsetof(sockaddr_un, sun_path) + 1 + name.size();
    ASSERT_EQ(
        bind(socket.get(), reinterpret_cast<sockaddr *>(&address), static_cast<socklen_t>(length)),
        0);
    const Server server(directory, {}, [&] { setenv("NOTIFY_SOCKET", ("@" + name).c_str(), 1); });
    EXPECT_EQ(next_datagram(socket), "READY=1");
}

TEST(IvshmemServerStart, NamesTheDirectoryThatIsMissing) {
    const Directory directory;
    Process server(server_command({"--socket", directory.file("missing/s")}));
    EXPECT_EQ(server.wait(), 1);
    EXPECT_NE(server.said().find("mkdir -p " + directory.file("missing") + "\n"), std::string::npos)
        << server.said();
}

} // namespace
} // namespace ivshmem::test
