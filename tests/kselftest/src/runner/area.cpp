// SPDX-License-Identifier: GPL-2.0
#include "runner/area.hpp"

#include "runner/interrupt.hpp"
#include "support/serve.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace rsmrun {
namespace {

// A binary is loaded, and answers that need no test, within this time on the slowest machine.
constexpr std::chrono::minutes answer_limit(2);

// Descriptors of a binary that serves.
constexpr int control_place = 3;
constexpr int output_place = 4;

// An answer, or the end of the socket, is there in time.
bool answered(int control, std::chrono::milliseconds limit)
{
    using std::chrono::steady_clock;
    const auto deadline = steady_clock::now() + limit;
    for (;;) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
            deadline - steady_clock::now());
        pollfd entry{control, POLLIN, 0};
        const int ready = poll(&entry, 1, std::max(0, static_cast<int>(left.count())));
        if (ready >= 0 || errno != EINTR)
            return ready > 0;
    }
}

} // namespace

Area::Area(std::string name, std::string binary, int output)
    : name_(std::move(name)), binary_(std::move(binary)), output_(output)
{
}

Area::~Area()
{
    unload();
}

void Area::exec(int control)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    unblock_interrupts();
    // High places first: either descriptor may already have the number of the other's place.
    const int high_control = fcntl(control, F_DUPFD, 10);
    const int high_output = fcntl(output_, F_DUPFD, 10);
    const int nothing = open("/dev/null", O_RDONLY);
    dup2(nothing, STDIN_FILENO);
    dup2(high_control, control_place);
    dup2(high_output, output_place);
    close_range(output_place + 1, ~0U, 0);
    execl(binary_.c_str(), binary_.c_str(), "--gtest_color=no", "--gtest_catch_exceptions=0",
          "--serve", std::to_string(control_place).c_str(), std::to_string(output_place).c_str(),
          nullptr);
    _exit(127);
}

bool Area::load()
{
    unload();
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return false;
    control_ = rsmtest::Fd(ends[0]);
    rsmtest::Fd its(ends[1]);
    process_ = fork();
    if (process_ == 0)
        exec(its.get());
    // From now on the socket ends when the binary does.
    its.reset();
    return process_ > 0 && read_list();
}

bool Area::read_list()
{
    tests_.clear();
    for (;;) {
        char name[rsmtest::longest_name];
        if (!answered(control_.get(), answer_limit))
            return false;
        const ssize_t length = recv(control_.get(), name, sizeof(name), 0);
        if (length <= 0)
            return false;
        const std::string test(name, static_cast<std::size_t>(length));
        if (test == rsmtest::end_of_list)
            return true;
        tests_.push_back(test);
    }
}

bool Area::send(const std::string &text)
{
    return ::send(control_.get(), text.data(), text.size(), MSG_NOSIGNAL) ==
           static_cast<ssize_t>(text.size());
}

std::optional<std::int64_t> Area::receive(std::chrono::milliseconds limit)
{
    std::int64_t value = 0;
    if (!answered(control_.get(), limit) ||
        recv(control_.get(), &value, sizeof(value), 0) != sizeof(value))
        return std::nullopt;
    return value;
}

std::optional<pid_t> Area::start(const std::string &test)
{
    if (!send(test))
        return std::nullopt;
    const auto process = receive(answer_limit);
    return process && *process > 0 ? std::optional(static_cast<pid_t>(*process)) : std::nullopt;
}

std::optional<int> Area::wait(std::chrono::milliseconds limit)
{
    const auto status = receive(limit);
    return status ? std::optional(static_cast<int>(*status)) : std::nullopt;
}

bool Area::alive()
{
    char byte = 0;
    return recv(control_.get(), &byte, sizeof(byte), MSG_PEEK | MSG_DONTWAIT) != 0;
}

bool Area::has_orphans()
{
    return send(rsmtest::orphans_request) && receive(answer_limit).value_or(0) != 0;
}

void Area::unload()
{
    control_.reset();
    if (process_ <= 0)
        return;
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
    process_ = -1;
}

} // namespace rsmrun
