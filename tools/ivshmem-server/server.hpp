// SPDX-License-Identifier: GPL-2.0
// The loop that waits for clients and for what becomes of them.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "descriptor.hpp"
#include "listener.hpp"
#include "looks.hpp"
#include "options.hpp"
#include "peer_table.hpp"

namespace ivshmem {

// So many messages at most are between the kernel and a client that doesn't read; see server.cpp.
constexpr unsigned most_in_flight = 64;

class Server {
  public:
    // Socket and memory are borrowed.
    Server(const Options &options, int socket, int memory);

    // Until SIGTERM or SIGINT.
    void run();

  private:
    void handle(std::uint64_t key, std::uint32_t events);
    void welcome();
    void admit(Descriptor connection);
    void seat(Descriptor connection, const ucred &credentials);
    void serve(PeerId id, std::uint32_t events);
    void deliver(PeerId id, Peer &peer);
    void drop(PeerId id, const std::string &reason);
    void pause(int error);
    void look_after_stuck();
    void look_after(PeerId id, Clock::time_point now, Look look);
    void watch(int operation, int descriptor, std::uint64_t key, std::uint32_t events) const;
    void watch_peers();
    int timeout() const;

    std::chrono::seconds patience_;
    Listener listener_;
    PeerTable peers_;
    Descriptor signals_;
    Descriptor epoll_;
    Looks looks_;
    bool paused_ = false;
    bool accept_fails_ = false; // logged once, not at each attempt
};

} // namespace ivshmem
