// SPDX-License-Identifier: GPL-2.0
// Who is connected, and what each of them has to be told about the others.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include <sys/socket.h>

#include "descriptor.hpp"
#include "outbox.hpp"

namespace ivshmem {

using PeerId = std::uint16_t;

struct Peer {
    Descriptor connection;
    ucred credentials;
    std::vector<Descriptor> doorbells;
    Outbox outbox;
    // What epoll was asked to watch for.
    std::uint32_t watched = 0;
    // The kernel was short of something: no use to try again at once.
    bool exhausted = false;
    // What it had not read of what is on its way when last looked at, in the kernel's measure.
    int unread = 0;
};

class PeerTable {
  public:
    using Peers = std::map<PeerId, Peer>;

    // The memory is borrowed.
    PeerTable(unsigned limit, unsigned vectors, int memory)
        : limit_(limit), vectors_(vectors), memory_(memory) {}

    bool full() const { return peers_.size() >= limit_; }

    // With the lowest id that is free. Throws, and changes nothing, if no doorbells can be made.
    PeerId add(Descriptor connection, const ucred &credentials);
    void remove(PeerId id);

    // Queues all the messages about a peer that is now there: to itself and to the others.
    void introduce(PeerId id);

    // Who has messages waiting.
    std::vector<PeerId> waiting() const;

    Peer *find(PeerId id);
    Peers &all() { return peers_; }

  private:
    PeerId lowest_free() const;
    void greet(PeerId id);

    unsigned limit_;
    unsigned vectors_;
    int memory_;
    Peers peers_;
};

} // namespace ivshmem
