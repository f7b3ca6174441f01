// SPDX-License-Identifier: GPL-2.0
// The connected peers, and the doorbells that each of them is told of.
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
    Outbox outbox;
    // The events that epoll was asked to watch for.
    std::uint32_t watched = 0;
    // The kernel was short of something: no use to try again at once.
    bool exhausted = false;
    // Bytes on their way that the peer had not read at the last look, in the kernel's measure.
    int unread = 0;
};

// Doorbells belong to ids, not to peers: they are made when an id is first used, stay, and go to
// each later holder of the id. A client is told once of the doorbells of each id, whether or not
// somebody holds it just then, and never that a peer has gone. Otherwise the next holder of an id
// would have to be announced to it as a new peer; and QEMU, which has freed its array of a peer's
// doorbells with the disconnection, would write the new ones into what it has freed.
class PeerTable {
  public:
    using Peers = std::map<PeerId, Peer>;

    // The memory is borrowed.
    PeerTable(unsigned limit, unsigned vectors, int memory)
        : limit_(limit), vectors_(vectors), memory_(memory) {}

    bool full() const { return peers_.size() >= limit_; }

    // With the lowest id that is free; queues what it and, if the id is new, the others are to be
    // told. Throws, and changes nothing, if no doorbells can be made.
    PeerId add(Descriptor connection, const ucred &credentials);
    void remove(PeerId id);

    // Peers with messages that wait.
    std::vector<PeerId> waiting() const;

    Peer *find(PeerId id);
    Peers &all() { return peers_; }

  private:
    PeerId lowest_free() const;
    void provide_doorbells(PeerId id);
    void greet(PeerId id, Outbox &outbox) const;

    unsigned limit_;
    unsigned vectors_;
    int memory_;
    std::vector<std::vector<Descriptor>> doorbells_; // by id
    Peers peers_;
};

} // namespace ivshmem
