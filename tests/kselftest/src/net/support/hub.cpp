// SPDX-License-Identifier: GPL-2.0
#include "net/support/hub.hpp"

#include "support/raw.hpp"

#include <algorithm>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <random>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace rsmtest::net {
namespace {

std::string environment(const char *name, const char *otherwise) {
    const char *value = std::getenv(name);
    return value && *value ? value : otherwise;
}

Configuration configuration() {
    Configuration result{environment("RSM_NET_CONTROLLER", "ivshmem0"), {}, raw::local_node()};
    const std::string nodes = environment("RSM_NET_NODES", "2 3");
    std::string_view left = nodes;
    for (std::string_view word; !(word = first_word(left)).empty();)
        result.nodes.push_back(static_cast<unsigned>(to_number(word)));
    return result;
}

// ksft-peer lies beside this program.
std::string peer_program() {
    char path[PATH_MAX] = {};
    if (readlink("/proc/self/exe", path, sizeof(path) - 1) < 0)
        return "ksft-peer";
    return std::string(path, std::strrchr(path, '/') + 1) + "ksft-peer";
}

} // namespace

const Configuration &Configuration::get() {
    static const Configuration instance = configuration();
    return instance;
}

Hub &Hub::instance() {
    static Hub hub;
    return hub;
}

Hub::Hub() : run_(std::to_string(std::random_device{}())) {
    const Configuration &configuration = Configuration::get();
    const bool remote = std::ranges::any_of(
        configuration.nodes, [&](unsigned node) { return node != configuration.own; });
    if (remote) {
        hub_ = Lines(Fd(open(hub_path, O_RDWR | O_CLOEXEC)));
        if (!hub_.valid())
            problem_ = std::string(hub_path) + ": " + std::strerror(errno);
    }
    if (problem_.empty())
        start_local_peer();
}

Hub::~Hub() {
    // It ends with the line to it, and ends its sessions.
    local_.close();
    if (local_pid_ > 0)
        waitpid(local_pid_, nullptr, 0);
}

void Hub::start_local_peer() {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        problem_ = std::strerror(errno);
        return;
    }
    Fd mine(ends[0]);
    const Fd its(ends[1]);
    const std::string program = peer_program();
    const std::string number = std::to_string(its.get());
    local_pid_ = fork();
    if (local_pid_ == 0) {
        fcntl(its.get(), F_SETFD, 0);
        execl(program.c_str(), "ksft-peer", number.c_str(), nullptr);
        _exit(127);
    }
    local_ = Lines(std::move(mine));
}

std::string Hub::send(unsigned node, const std::string &order) {
    const std::string tag = run_ + '.' + std::to_string(++sent_);
    answers_[tag] = std::nullopt;
    // The hub puts the sender in place of the receiver.
    const bool here = node == Configuration::get().own;
    Lines &line = here ? local_ : hub_;
    line.write('@' + std::to_string(node) + ' ' + tag + ' ' + order);
    return tag;
}

Answer Hub::receive(const std::string &tag, const Place &place) {
    const Waiting waiting("the answer of a node", place);
    while (!answers_[tag])
        pump(-1);
    Answer answer = *answers_[tag];
    forget(tag);
    return answer;
}

bool Hub::answered(const std::string &tag, std::chrono::milliseconds at_most) {
    const auto end = Clock::now() + at_most;
    // Messages that have come are read when no time is left, too.
    for (bool over = false; !answers_[tag] && !over;) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
        over = left.count() <= 0;
        pump(over ? 0 : static_cast<int>(left.count()));
    }
    return answers_[tag].has_value();
}

void Hub::tell_vm(const std::string &order) {
    hub_.write("@vm " + order);
}

std::string Hub::hear_vm(const Place &place) {
    const Waiting waiting("the answer of rsm-vm", place);
    while (vm_answers_.empty())
        pump(-1);
    std::string answer = std::move(vm_answers_.front());
    vm_answers_.pop_front();
    return answer;
}

void Hub::pump(int milliseconds) {
    pollfd entries[] = {{hub_.descriptor(), POLLIN, 0}, {local_.descriptor(), POLLIN, 0}};
    if (poll(entries, 2, milliseconds) < 0)
        return;
    Lines *const lines[] = {&hub_, &local_};
    for (int i = 0; i < 2; i++) {
        if (entries[i].revents && !lines[i]->fill())
            lines[i]->close();
        while (const auto line = lines[i]->next())
            sort(*line);
    }
}

void Hub::sort(std::string_view line) {
    if (first_word(line) == "@vm") {
        vm_answers_.emplace_back(line);
        return;
    }
    // Answers to what an earlier test asked are nobody's.
    const auto found = answers_.find(std::string(first_word(line)));
    if (found != answers_.end())
        found->second = Answer::parse(line);
}

} // namespace rsmtest::net
