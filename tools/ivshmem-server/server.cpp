// SPDX-License-Identifier: GPL-2.0
#include "server.hpp"

#include <cerrno>
#include <csignal>
#include <system_error>
#include <utility>

#include <linux/sockios.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>

#include "log.hpp"

namespace ivshmem {

namespace {

// Keys of events; the others are peers' ids.
constexpr std::uint64_t key_listener = 1U << 16U;
constexpr std::uint64_t key_signals = key_listener + 1;

// Room for most_in_flight messages. Descriptors on their way count against a limit of this user's
// that all clients share, so one that doesn't read must not have many.
constexpr int send_buffer = 16384;

Descriptor make_signals() {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    check_errno(sigprocmask(SIG_BLOCK, &set, nullptr), "sigprocmask");
    return Descriptor(check_errno(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK), "signalfd"));
}

ucred credentials_of(const Descriptor &connection) {
    ucred credentials{};
    socklen_t size = sizeof(credentials);
    check_errno(getsockopt(connection.get(), SOL_SOCKET, SO_PEERCRED, &credentials, &size),
                "SO_PEERCRED");
    return credentials;
}

std::string name_of(const ucred &credentials) {
    return "(pid " + std::to_string(credentials.pid) + ", uid " + std::to_string(credentials.uid) +
           ")";
}

// A client has nothing to say: either it is gone or it is no client.
std::string reason_for_end(const Descriptor &connection) {
    char byte = 0;
    const auto got = recv(connection.get(), &byte, sizeof(byte), MSG_DONTWAIT);
    return got > 0 ? "dropped: it sends data" : "left";
}

// Whether the client has read something since the last call, or has nothing left to read.
bool has_read(Peer &peer) {
    int unread = 0;
    check_errno(ioctl(peer.connection.get(), SIOCOUTQ, &unread), "SIOCOUTQ");
    const int before = std::exchange(peer.unread, unread);
    return unread == 0 || unread < before;
}

std::uint32_t events_for(const Peer &peer) {
    const bool can_send = !peer.outbox.empty() && !peer.exhausted;
    return EPOLLIN | EPOLLRDHUP | (can_send ? EPOLLOUT : 0U);
}

} // namespace

Server::Server(const Options &options, int socket, int memory)
    : patience_(options.patience), listener_(socket),
      peers_(options.max_peers, options.vectors, memory), signals_(make_signals()),
      epoll_(check_errno(epoll_create1(EPOLL_CLOEXEC), "epoll_create1")), looks_(Clock::now()) {
    watch(EPOLL_CTL_ADD, signals_.get(), key_signals, EPOLLIN);
    watch(EPOLL_CTL_ADD, listener_.socket(), key_listener, EPOLLIN);
}

void Server::watch(int operation, int descriptor, std::uint64_t key, std::uint32_t events) const {
    epoll_event event{};
    event.events = events;
    event.data.u64 = key;
    check_errno(epoll_ctl(epoll_.get(), operation, descriptor, &event), "epoll_ctl");
}

// Messages are only queued; it is epoll that says when to send them, so sending to one client
// never happens in the middle of dealing with another.
void Server::watch_peers() {
    for (auto &[id, peer] : peers_.all()) {
        if (const auto wanted = events_for(peer); wanted != peer.watched) {
            watch(EPOLL_CTL_MOD, peer.connection.get(), id, wanted);
            peer.watched = wanted;
        }
    }
}

// One event at a time: handling one may make others of the same batch stale.
void Server::run() {
    for (;;) {
        epoll_event event{};
        const int count = epoll_wait(epoll_.get(), &event, 1, timeout());
        if (count < 0 && errno != EINTR) {
            fail_errno("epoll_wait");
        }
        if (count > 0 && event.data.u64 == key_signals) {
            return;
        }
        if (count > 0) {
            handle(event.data.u64, event.events);
        }
        look_after_stuck();
        watch_peers();
    }
}

void Server::handle(std::uint64_t key, std::uint32_t events) {
    if (key == key_listener) {
        welcome();
    } else {
        serve(static_cast<PeerId>(key), events);
    }
}

void Server::welcome() {
    auto accepted = listener_.accept();
    switch (accepted.outcome) {
    case Listener::Outcome::connected:
        admit(std::move(accepted.connection));
        break;
    case Listener::Outcome::turned_away:
        log("client refused: " + std::generic_category().message(accepted.error));
        break;
    case Listener::Outcome::failed:
        pause(accepted.error);
        break;
    case Listener::Outcome::nobody:
        break;
    }
}

void Server::admit(Descriptor connection) {
    accept_fails_ = false;
    const auto credentials = credentials_of(connection);
    if (peers_.full()) {
        log("client refused: all ids are taken " + name_of(credentials));
        return;
    }
    try {
        seat(std::move(connection), credentials);
    } catch (const std::system_error &error) {
        log("client refused: " + error.code().message() + " " + name_of(credentials));
    }
}

void Server::seat(Descriptor connection, const ucred &credentials) {
    check_errno(
        setsockopt(connection.get(), SOL_SOCKET, SO_SNDBUF, &send_buffer, sizeof(send_buffer)),
        "SO_SNDBUF");
    const auto id = peers_.add(std::move(connection), credentials);
    try {
        watch(EPOLL_CTL_ADD, peers_.find(id)->connection.get(), id, 0);
    } catch (const std::system_error &) {
        peers_.remove(id);
        throw;
    }
    log("peer " + std::to_string(id) + " joined " + name_of(credentials));
}

void Server::serve(PeerId id, std::uint32_t events) {
    auto *peer = peers_.find(id);
    if (peer == nullptr) {
        return;
    }
    if ((events & ~static_cast<std::uint32_t>(EPOLLOUT)) != 0) {
        drop(id, reason_for_end(peer->connection));
    } else {
        deliver(id, *peer);
    }
}

void Server::deliver(PeerId id, Peer &peer) {
    const auto sent = peer.outbox.flush(peer.connection.get());
    peer.exhausted = sent == Sent::exhausted;
    if (sent == Sent::broken) {
        drop(id, "left");
    }
}

void Server::drop(PeerId id, const std::string &reason) {
    const auto *peer = peers_.find(id);
    log("peer " + std::to_string(id) + " " + reason + " " + name_of(peer->credentials));
    peers_.remove(id);
}

// Until the next look: an event that can't be served would come again at once.
void Server::pause(int error) {
    if (!std::exchange(accept_fails_, true)) {
        log("cannot accept clients for now: " + std::generic_category().message(error));
    }
    watch(EPOLL_CTL_MOD, listener_.socket(), key_listener, 0);
    paused_ = true;
}

int Server::timeout() const {
    return paused_ || !peers_.waiting().empty() ? static_cast<int>(look_interval.count()) : -1;
}

void Server::look_after_stuck() {
    const auto now = Clock::now();
    const auto look = looks_.begin(now);
    if (look == Look::early) {
        return;
    }
    if (std::exchange(paused_, false)) {
        watch(EPOLL_CTL_MOD, listener_.socket(), key_listener, EPOLLIN);
    }
    for (const auto id : peers_.waiting()) {
        look_after(id, now, look);
    }
}

// Drops a client that does not read, and sends again what the kernel had no room for. A late look decides nothing: it
// gives the client its time again.
void Server::look_after(PeerId id, Clock::time_point now, Look look) {
    auto &peer = *peers_.find(id);
    peer.exhausted = false;
    if (has_read(peer) || look == Look::late) {
        peer.outbox.begin_patience();
    } else if (now - peer.outbox.stuck_since() >= patience_) {
        drop(id, "dropped: it doesn't read");
    }
}

} // namespace ivshmem
