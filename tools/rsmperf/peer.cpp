// SPDX-License-Identifier: GPL-2.0
#include "peer.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <utility>

#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace rsmperf {

void fail_errno(const char *what) {
    throw std::runtime_error(std::string(what) + ": " + std::strerror(errno));
}

Descriptor::Descriptor(Descriptor &&other) noexcept : number_(std::exchange(other.number_, -1)) {}

Descriptor &Descriptor::operator=(Descriptor &&other) noexcept {
    if (this != &other) {
        reset();
        number_ = std::exchange(other.number_, -1);
    }
    return *this;
}

void Descriptor::reset() {
    if (number_ >= 0) {
        close(std::exchange(number_, -1));
    }
}

void Channel::send_bytes(const void *data, std::size_t size) {
    const auto sent = check_errno(::send(end_.get(), data, size, MSG_NOSIGNAL), "send");
    if (static_cast<std::size_t>(sent) != size) {
        throw std::runtime_error("send: value cut short");
    }
}

bool Channel::receive_bytes(void *data, std::size_t size) {
    const auto got = recv(end_.get(), data, size, MSG_WAITALL);
    if (got < 0 && errno != ECONNRESET) {
        fail_errno("recv");
    }
    return got == static_cast<ssize_t>(size);
}

void Channel::wait_closed() {
    char byte = 0;
    while (receive_bytes(&byte, 1)) {
    }
}

// After this other processes that inherited our end no longer keep the channel open.
void Channel::close() {
    shutdown(end_.get(), SHUT_RDWR);
    end_.reset();
}

namespace {

// A child never returns into its parent's code, nor flushes its parent's buffers.
[[noreturn]] void run_child(const Peer::Body &body, Channel channel) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    int status = 0;
    try {
        run_on(Place::peer);
        body(channel);
    } catch (const std::exception &error) {
        (void)std::fprintf(stderr, "rsmperf: %s\n", error.what());
        status = 1;
    }
    _exit(status);
}

} // namespace

Peer::Peer(const Body &body) {
    int ends[2];
    check_errno(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), "socketpair");
    Descriptor ours(ends[0]);
    Descriptor theirs(ends[1]);

    const auto child = check_errno(fork(), "fork");
    if (child == 0) {
        ours.reset();
        run_child(body, Channel(std::move(theirs)));
    }
    channel_ = Channel(std::move(ours));
    pid_ = child;
}

Peer::Peer(Peer &&other) noexcept
    : channel_(std::move(other.channel_)), pid_(std::exchange(other.pid_, -1)) {}

void Peer::kill() const {
    ::kill(pid_, SIGKILL);
}

Peer::~Peer() {
    channel_.close();
    if (pid_ > 0) {
        waitpid(pid_, nullptr, 0);
    }
}

void run_on(Place place) {
    if (sysconf(_SC_NPROCESSORS_ONLN) < 2) {
        return;
    }
    cpu_set_t processors;
    CPU_ZERO(&processors);
    CPU_SET(place == Place::measuring ? 0 : 1, &processors);
    // Where processor 0 or 1 is not ours the scheduler's choice has to do.
    (void)sched_setaffinity(0, sizeof(processors), &processors);
}

} // namespace rsmperf
