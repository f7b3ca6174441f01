// SPDX-License-Identifier: MIT
// Runs a program on a fake of /dev/rsm: the agent is this process, the interposer librsm-fake.so
// beside it is preloaded into the program and its children.
//
// usage: rsm-fake [--stats FILE] PROGRAM [ARGUMENT...]
#include "device/fake/server.h"

#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

constexpr const char *HELP =
    "usage: rsm-fake [--stats FILE] PROGRAM [ARGUMENT...]\n"
    "\n"
    "Runs PROGRAM, and its children, on a fake of /dev/rsm that lives as long as PROGRAM. The "
    "fake\n"
    "needs no kernel module; it checks access lists, and does not protect memory as the kernel "
    "does.\n"
    "\n"
    "  --stats FILE   keep counts in FILE of what exists: handles, published segments, "
    "connections,\n"
    "                 pinned pages\n"
    "\n"
    "Exit status: that of PROGRAM; 128 and the signal's number if a signal ended it; 127 if it\n"
    "could not be started; 2 for wrong arguments.\n";
constexpr int USAGE = 2;
constexpr int NOT_STARTED = 127;
constexpr int KILLED = 128;

std::string preload() {
    const auto own = std::filesystem::read_symlink("/proc/self/exe").parent_path();
    const char *before = std::getenv("LD_PRELOAD");
    const std::string library = (own / "librsm-fake.so").string();
    return before == nullptr ? library : std::string(before) + ":" + library;
}

[[noreturn]] void run_program(char **arguments, const std::string &socket) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::setenv(rsmfake::SOCKET_VARIABLE, socket.c_str(), 1);
    ::setenv("LD_PRELOAD", preload().c_str(), 1);
    ::execvp(*arguments, arguments);
    std::perror(*arguments);
    ::_exit(NOT_STARTED);
}

} // namespace

int main(int argc, char **argv) {
    if (argc > 1 && std::strcmp(argv[1], "--help") == 0) {
        (void)std::fputs(HELP, stdout);
        return 0;
    }
    const char *stats = nullptr;
    int first = 1;
    if (argc > 2 && std::strcmp(argv[1], "--stats") == 0) {
        stats = argv[2];
        first = 3;
    }
    if (first >= argc) {
        std::fputs(HELP, stderr);
        return USAGE;
    }
    const std::string socket = "rsm-fake-" + std::to_string(::getpid());
    rsmfake::Server server(socket, stats);
    const pid_t program = ::fork();
    if (program == 0)
        run_program(argv + first, socket);
    const int status = server.run_until_end_of(program);
    return WIFEXITED(status) ? WEXITSTATUS(status) : KILLED + WTERMSIG(status);
}
