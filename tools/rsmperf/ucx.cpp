// SPDX-License-Identifier: GPL-2.0
#include "ucx.hpp"

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <vector>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "peer.hpp"

namespace rsmperf {

namespace {

constexpr const char *program = "ucx_perftest";
constexpr const char *iterations = "20000";

// In the child: becomes ucx_perftest.
[[noreturn]] void become(std::vector<std::string> arguments, int output) {
    arguments.insert(arguments.begin(), program);
    std::vector<char *> pointers;
    pointers.reserve(arguments.size() + 1);
    for (auto &argument : arguments) {
        pointers.push_back(argument.data());
    }
    pointers.push_back(nullptr);
    (void)setenv("UCX_TLS", "posix", 1);
    (void)setenv("UCX_WARN_UNUSED_ENV_VARS", "n", 1);
    (void)dup2(output, STDOUT_FILENO);
    (void)dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO);
    execvp(program, pointers.data());
    _exit(127);
}

// A process that runs one side of the test.
class Side {
  public:
    Side(Place place, const std::vector<std::string> &arguments, int output)
        : pid_(check_errno(fork(), "fork")) {
        if (pid_ == 0) {
            run_on(place);
            become(arguments, output);
        }
    }
    Side(const Side &) = delete;
    Side(Side &&) = delete;
    Side &operator=(const Side &) = delete;
    Side &operator=(Side &&) = delete;
    ~Side() {
        if (pid_ > 0) {
            (void)kill(pid_, SIGKILL);
            (void)waitpid(pid_, nullptr, 0);
        }
    }

    int wait() {
        int status = 0;
        (void)waitpid(pid_, &status, 0);
        pid_ = -1;
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
    }

  private:
    pid_t pid_;
};

std::string read_all(int descriptor) {
    std::string text;
    std::array<char, 512> part{};
    ssize_t got = 0;
    while ((got = read(descriptor, part.data(), part.size())) > 0) {
        text.append(part.data(), static_cast<std::size_t>(got));
    }
    return text;
}

// The last line is iterations,median,average,overall,...; times in microseconds.
double overall(const std::string &text) {
    auto field = text.find_last_of('\n', text.size() - 2);
    for (int skipped = 0; skipped < 3 && field != std::string::npos; skipped++) {
        field = text.find(',', field + 1);
    }
    const double result = field == std::string::npos ? 0 : std::strtod(&text[field + 1], nullptr);
    if (result <= 0) {
        throw std::runtime_error("ucx_perftest printed no figure");
    }
    return result * 1000;
}

// The client fails as long as the server is not there.
std::string run_client(const std::vector<std::string> &common) {
    for (int tries = 0; tries < 100; tries++) {
        std::array<int, 2> ends{};
        check_errno(pipe2(ends.data(), O_CLOEXEC), "pipe2");
        const Descriptor input(ends[0]);
        Descriptor output(ends[1]);
        auto arguments = common;
        arguments.insert(arguments.begin(), "127.0.0.1");
        Side client(Place::measuring, arguments, output.get());
        output.reset();
        auto text = read_all(input.get());
        const int status = client.wait();
        if (status == 127) {
            throw std::runtime_error("ucx_perftest is missing: tools/install-deps check");
        }
        if (status == 0 && text.size() > 2) {
            return text;
        }
        usleep(100000);
    }
    throw std::runtime_error("ucx_perftest failed");
}

} // namespace

double ucx_latency(const std::string &test, std::size_t size) {
    const auto port = std::to_string(20000 + getpid() % 10000);
    const std::vector<std::string> common = {
        "-t", test, "-s", std::to_string(size), "-n", iterations, "-p", port, "-f", "-v"};
    const Descriptor nothing(open("/dev/null", O_WRONLY | O_CLOEXEC));
    const Side server(Place::peer, common, nothing.get());
    return overall(run_client(common));
}

} // namespace rsmperf
