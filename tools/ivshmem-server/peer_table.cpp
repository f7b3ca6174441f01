// SPDX-License-Identifier: GPL-2.0
#include "peer_table.hpp"

#include <utility>

#include <sys/eventfd.h>

namespace ivshmem {

namespace {

// Non-blocking, as QEMU reads and writes them in its main loop and in its processors' threads.
std::vector<Descriptor> make_doorbells(unsigned count) {
    std::vector<Descriptor> doorbells;
    doorbells.reserve(count);
    for (; count > 0; count--) {
        doorbells.emplace_back(check_errno(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC), "eventfd"));
    }
    return doorbells;
}

} // namespace

PeerId PeerTable::lowest_free() const {
    PeerId id = 0;
    for (const auto &[taken, peer] : peers_) {
        if (taken != id) {
            break;
        }
        id++;
    }
    return id;
}

PeerId PeerTable::add(Descriptor connection, const ucred &credentials) {
    const auto id = lowest_free();
    Peer peer{.connection = std::move(connection),
              .credentials = credentials,
              .doorbells = make_doorbells(vectors_),
              .outbox = {}};
    peers_.emplace(id, std::move(peer));
    return id;
}

void PeerTable::greet(PeerId id) {
    auto &newcomer = peers_.at(id);
    newcomer.outbox.push({protocol_version});
    newcomer.outbox.push({id});
    newcomer.outbox.push({shared_memory, memory_});
    for (const auto &[other, peer] : peers_) {
        if (other != id) {
            newcomer.outbox.push_connection(other, peer.doorbells);
        }
    }
    newcomer.outbox.push_connection(id, newcomer.doorbells);
}

void PeerTable::introduce(PeerId id) {
    greet(id);
    for (auto &[other, peer] : peers_) {
        if (other != id) {
            peer.outbox.push_connection(id, peers_.at(id).doorbells);
        }
    }
}

// The others' outboxes borrow the doorbells, so these go last.
void PeerTable::remove(PeerId id) {
    for (auto &[other, peer] : peers_) {
        if (other != id) {
            peer.outbox.push_disconnection(id, vectors_);
        }
    }
    peers_.erase(id);
}

std::vector<PeerId> PeerTable::waiting() const {
    std::vector<PeerId> ids;
    for (const auto &[id, peer] : peers_) {
        if (!peer.outbox.empty()) {
            ids.push_back(id);
        }
    }
    return ids;
}

Peer *PeerTable::find(PeerId id) {
    const auto found = peers_.find(id);
    return found == peers_.end() ? nullptr : &found->second;
}

} // namespace ivshmem
