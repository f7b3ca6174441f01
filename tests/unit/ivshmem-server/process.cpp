// SPDX-License-Identifier: GPL-2.0
#include "process.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ivshmem::test {

namespace {

[[noreturn]] void run(const std::vector<std::string> &command, const Process::Setup &setup) {
    std::vector<char *> arguments;
    for (const auto &word : command) {
        arguments.push_back(const_cast<char *>(word.c_str()));
    }
    arguments.push_back(nullptr);
    setup();
    execvp(arguments.front(), arguments.data());
    _exit(127);
}

} // namespace

Directory::Directory() {
    std::string name = std::filesystem::temp_directory_path() / "ivshmem.XXXXXX";
    if (mkdtemp(name.data()) == nullptr) {
        fail_errno("mkdtemp");
    }
    path_ = name;
}

Directory::~Directory() {
    std::filesystem::remove_all(path_);
}

Process::Process(std::vector<std::string> command, const Setup &setup) {
    std::array<int, 2> ends{};
    check_errno(pipe2(ends.data(), O_CLOEXEC), "pipe2");
    stderr_ = Descriptor(ends[0]);
    const Descriptor theirs(ends[1]);
    pid_ = check_errno(fork(), "fork");
    if (pid_ == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(theirs.get(), STDERR_FILENO);
        run(command, setup);
    }
}

Process::~Process() {
    if (pid_ > 0) {
        signal(SIGKILL);
        waitpid(pid_, nullptr, 0);
    }
}

void Process::signal(int number) const {
    check_errno(kill(pid_, number), "kill");
}

bool Process::read_more() {
    std::array<char, 4096> text{};
    const auto got = read(stderr_.get(), text.data(), text.size());
    said_.append(text.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
    return got > 0;
}

bool Process::says(const std::string &text) {
    while (said_.find(text) == std::string::npos) {
        if (!read_more()) {
            return false;
        }
    }
    return true;
}

int Process::wait() {
    while (read_more()) {
    }
    int status = 0;
    check_errno(waitpid(std::exchange(pid_, -1), &status, 0), "waitpid");
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

int Process::end(int signal_number) {
    signal(signal_number);
    return wait();
}

std::size_t Process::lines() const {
    return static_cast<std::size_t>(std::ranges::count(said_, '\n'));
}

std::vector<std::string> server_command(std::vector<std::string> options) {
    options.insert(options.begin(), IVSHMEM_SERVER);
    return options;
}

namespace {

std::vector<std::string> with_socket(const Directory &directory, std::vector<std::string> options) {
    options.insert(options.begin(), {"--socket", directory.socket()});
    return server_command(std::move(options));
}

} // namespace

Server::Server(const Directory &directory, std::vector<std::string> options, const Setup &setup)
    : Process(with_socket(directory, std::move(options)), setup) {
    if (!says(": ready")) {
        throw std::runtime_error("the server does not start: " + said());
    }
}

std::size_t open_descriptors(pid_t pid) {
    const std::filesystem::directory_iterator entries("/proc/" + std::to_string(pid) + "/fd");
    return static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
}

double seconds_used(pid_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    std::string text(std::istreambuf_iterator<char>(file), {});
    std::istringstream fields(text.substr(text.rfind(')') + 2));
    std::string skipped;
    for (int field = 3; field < 14; field++) {
        fields >> skipped;
    }
    double user = 0;
    double system = 0;
    fields >> user >> system;
    return (user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

bool eventually(const std::function<bool()> &condition) {
    while (!condition()) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return true;
}

bool notices_end(const Server &server, const std::function<void()> &action) {
    const auto before = open_descriptors(server.pid());
    action();
    return eventually([&] { return open_descriptors(server.pid()) < before; });
}

} // namespace ivshmem::test
