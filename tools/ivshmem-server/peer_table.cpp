// SPDX-License-Identifier: GPL-2.0
#include "peer_table.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <sys/eventfd.h>
#include <sys/uio.h>

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

// Forgets that it was rung. A holder of an eventfd can make read() wait on it, so this is one that
// never does. Kernels before 5.8 can't do it: the next holder gets an interrupt too many.
void drain(const Descriptor &doorbell) {
    std::uint64_t count = 0;
    const iovec room{&count, sizeof(count)};
    [[maybe_unused]] const ssize_t drained = preadv2(doorbell.get(), &room, 1, -1, RWF_NOWAIT);
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
    provide_doorbells(id);
    Peer peer{.connection = std::move(connection), .credentials = credentials, .outbox = {}};
    greet(id, peer.outbox);
    peers_.emplace(id, std::move(peer));
    return id;
}

// As ids are the lowest that are free, the first without doorbells is the next in the row.
void PeerTable::provide_doorbells(PeerId id) {
    if (id < doorbells_.size()) {
        std::ranges::for_each(doorbells_[id], drain);
        return;
    }
    doorbells_.push_back(make_doorbells(vectors_));
    for (auto &[other, peer] : peers_) {
        peer.outbox.push_doorbells(id, doorbells_[id]);
    }
}

// Its own doorbells come last, as the specification has it.
void PeerTable::greet(PeerId id, Outbox &outbox) const {
    outbox.push({protocol_version});
    outbox.push({id});
    outbox.push({shared_memory, memory_});
    for (std::size_t other = 0; other < doorbells_.size(); other++) {
        if (other != id) {
            outbox.push_doorbells(static_cast<std::int64_t>(other), doorbells_[other]);
        }
    }
    outbox.push_doorbells(id, doorbells_[id]);
}

void PeerTable::remove(PeerId id) {
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
