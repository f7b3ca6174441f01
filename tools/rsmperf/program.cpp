// SPDX-License-Identifier: GPL-2.0
#include "program.hpp"

#include <array>
#include <csignal>
#include <stdexcept>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace rsmperf {

namespace {

constexpr int not_found = 127;

// In the child.
[[noreturn]] void become(Command command, int output) {
    std::vector<char *> pointers;
    pointers.reserve(command.size() + 1);
    for (auto &argument : command) {
        pointers.push_back(argument.data());
    }
    pointers.push_back(nullptr);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    (void)dup2(output >= 0 ? output : nowhere, STDOUT_FILENO);
    (void)dup2(nowhere, STDERR_FILENO);
    execvp(pointers[0], pointers.data());
    _exit(not_found);
}

std::string read_all(int descriptor) {
    std::string text;
    std::array<char, 512> part{};
    ssize_t got = 0;
    while ((got = read(descriptor, part.data(), part.size())) > 0) {
        text.append(part.data(), static_cast<std::size_t>(got));
    }
    return text;
}

int run_client(const Command &command, std::string &text) {
    std::array<int, 2> ends{};
    check_errno(pipe2(ends.data(), O_CLOEXEC), "pipe2");
    const Descriptor input(ends[0]);
    Descriptor output(ends[1]);
    Program client(Place::measuring, command, output.get());
    output.reset();
    text = read_all(input.get());
    return client.wait();
}

} // namespace

Program::Program(Place place, const Command &command, int output)
    : pid_(check_errno(fork(), "fork")) {
    if (pid_ == 0) {
        run_on(place);
        become(command, output);
    }
}

Program::~Program() {
    if (pid_ > 0) {
        (void)kill(pid_, SIGKILL);
        (void)waitpid(pid_, nullptr, 0);
    }
}

int Program::wait() {
    int status = 0;
    (void)waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

std::string output_of_client(const Command &command) {
    std::string text;
    for (int tries = 0; tries < 100; tries++) {
        const int status = run_client(command, text);
        if (status == not_found) {
            throw std::runtime_error(command[0] + " is missing: tools/install-deps check");
        }
        if (status == 0 && text.size() > 2) {
            return text;
        }
        usleep(100000);
    }
    throw std::runtime_error(command[0] + " failed");
}

} // namespace rsmperf
