// SPDX-License-Identifier: GPL-2.0
// Real QEMU at rsm-ivshmem-server: its qtest protocol drives the ivshmem-doorbell device while
// processors stand still, so nothing has to boot.
#include <array>
#include <csignal>
#include <gtest/gtest.h>
#include <stdexcept>
#include <string>

#include <sys/socket.h>
#include <unistd.h>

#include "client.hpp"
#include "process.hpp"

namespace ivshmem::test {
namespace {

bool qemu_is_there() {
    Process qemu({"qemu-system-x86_64", "--version"}, [] { close(STDOUT_FILENO); });
    return qemu.wait() == 0;
}

struct Ends {
    Descriptor ours;
    Descriptor theirs;
};

Ends make_ends() {
    std::array<int, 2> ends{};
    check_errno(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), "socketpair");
    return {Descriptor(ends[0]), Descriptor(ends[1])};
}

// A machine whose only device is the one under test, in slot 4; its registers are made accessible.
// MSI-X is on but all its vectors are masked, so that interrupts stay pending and can be seen.
class Machine {
  public:
    Machine(const Directory &directory, int vectors)
        : ends_(make_ends()), qemu_(command(directory, vectors), [this] {
              dup2(ends_.theirs.get(), STDIN_FILENO);
              dup2(ends_.theirs.get(), STDOUT_FILENO);
          }) {
        ends_.theirs.reset();
        configure(0x10, registers);
        configure(0x14, interrupts);
        configure(0x18, window);
        configure(0x1c, 0);
        configure(0x04, 2);
        configure(msix, 1U << 31U);
    }

    std::uint32_t id() { return number("readl " + std::to_string(registers + 8)); }
    void ring(std::uint32_t peer, std::uint32_t vector) {
        write("writel", registers + 12, peer << 16U | vector);
    }
    bool has_interrupt(std::uint32_t vector) {
        return (number("readl " + std::to_string(interrupts + 0x800)) >> vector & 1U) != 0;
    }
    void store(std::uint32_t at, std::uint32_t value) { write("writel", window + at, value); }
    std::uint32_t load(std::uint32_t at) { return number("readl " + std::to_string(window + at)); }
    Process &process() { return qemu_; }

  private:
    static constexpr std::uint32_t registers = 0xe0000000;
    static constexpr std::uint32_t interrupts = 0xe0001000;
    static constexpr std::uint32_t window = 0xd0000000;
    static constexpr std::uint32_t msix = 0x40; // the first capability

    static std::vector<std::string> command(const Directory &directory, int vectors) {
        return {"qemu-system-x86_64",
                "-M",
                "pc",
                "-S",
                "-display",
                "none",
                "-nodefaults",
                "-qtest",
                "stdio",
                "-qtest-log",
                "/dev/null",
                "-chardev",
                "socket,path=" + directory.socket() + ",id=c",
                "-device",
                "ivshmem-doorbell,addr=4,chardev=c,vectors=" + std::to_string(vectors)};
    }

    std::string ask(const std::string &request) {
        const auto line = request + "\n";
        (void)send(ends_.ours.get(), line.data(), line.size(), MSG_NOSIGNAL);
        std::string answer;
        for (char byte = 0; recv(ends_.ours.get(), &byte, 1, 0) == 1 && byte != '\n';) {
            answer += byte;
        }
        if (!answer.starts_with("OK")) {
            fail(request, answer);
        }
        return answer.substr(answer.find(' ') + 1);
    }

    // One that doesn't answer at all has ended.
    [[noreturn]] void fail(const std::string &request, const std::string &answer) {
        const auto status = answer.empty() ? qemu_.wait() : 0;
        throw std::runtime_error(request + ": " + answer + "; status " + std::to_string(status) +
                                 ", " + qemu_.said());
    }

    std::uint32_t number(const std::string &request) {
        return static_cast<std::uint32_t>(std::stoull(ask(request), nullptr, 0));
    }

    void write(const std::string &how, std::uint32_t where, std::uint32_t what) {
        ask(how + " " + std::to_string(where) + " " + std::to_string(what));
    }

    void configure(std::uint32_t offset, std::uint32_t value) {
        write("outl", 0xcf8, 0x80000000U | 4U << 11U | offset);
        write("outl", 0xcfc, value);
    }

    Ends ends_;
    Process qemu_;
};

class IvshmemServerQemu : public testing::Test {
  protected:
    void SetUp() override {
        if (!qemu_is_there()) {
            GTEST_SKIP() << "no qemu-system-x86_64";
        }
    }
};

TEST_F(IvshmemServerQemu, TwoMachinesAndAWitness) {
    const Directory directory;
    Server server(directory, {"--size", "4M", "--vectors", "2"});
    Machine first(directory, 2);
    Machine second(directory, 2);
    Client witness(directory.socket());
    const auto greeting = witness.greeting(2);
    EXPECT_EQ(first.id(), 0U);
    EXPECT_EQ(second.id(), 1U);
    ASSERT_EQ(greeting.id, 2);

    first.store(0x1000, 42);
    EXPECT_EQ(second.load(0x1000), 42U);
    const Window window(greeting.memory, std::size_t{4} << 20U);
    EXPECT_EQ(window.word(0x1000 / 8), 42U);

    // The device learns of the witness in its main loop, maybe after the first attempts.
    const auto &own = greeting.doorbells.at(2);
    for (auto *machine : {&first, &second}) {
        for (std::uint32_t vector = 0; vector < 2; vector++) {
            EXPECT_TRUE(eventually([&] {
                machine->ring(2, vector);
                return has_rung(own[vector]);
            }));
            EXPECT_FALSE(has_rung(own[1 - vector]));
        }
    }
}

// A device takes what it has vectors for; one that has more lives with fewer.
TEST_F(IvshmemServerQemu, OtherNumbersOfVectors) {
    const Directory directory;
    Server server(directory, {"--size", "4M", "--vectors", "2"});
    Machine fewer(directory, 1);
    EXPECT_EQ(fewer.id(), 0U);
    Machine more(directory, 4);
    EXPECT_EQ(more.id(), 1U);
}

void expect_killed(const Server &server, Machine &machine) {
    EXPECT_TRUE(notices_end(server, [&] { EXPECT_EQ(machine.process().end(SIGKILL), -SIGKILL); }));
    EXPECT_EQ(machine.process().said(), "");
}

TEST_F(IvshmemServerQemu, AMachineThatIsKilled) {
    const Directory directory;
    Server server(directory, {"--size", "4M"});
    Client witness(directory.socket());
    witness.greeting();
    for (int round = 0; round < 2; round++) {
        Machine machine(directory, 1);
        EXPECT_EQ(machine.id(), 1U);
        expect_killed(server, machine);
    }
    expect_joined(witness, 1);
    expect_nothing(server, witness);
}

// One machine stays while others come with the same id and are killed: it reaches each of them, and
// may ring when nobody is there. QEMU doesn't survive being told that they go.
TEST_F(IvshmemServerQemu, AMachineThatStaysWhileOthersComeAndGo) {
    const Directory directory;
    const Server server(directory, {"--size", "4M"});
    Machine stays(directory, 1);
    ASSERT_EQ(stays.id(), 0U);
    for (int round = 0; round < 20; round++) {
        Machine other(directory, 1);
        ASSERT_EQ(other.id(), 1U);
        EXPECT_TRUE(eventually([&] {
            stays.ring(1, 0);
            return other.has_interrupt(0);
        }));
        expect_killed(server, other);
        stays.ring(1, 0);
    }
    EXPECT_EQ(stays.id(), 0U);
    EXPECT_EQ(stays.process().end(SIGTERM), 0);
}

} // namespace
} // namespace ivshmem::test
