// SPDX-License-Identifier: GPL-2.0
// The passive side of a connection, in a process of its own.
#pragma once

#include <vector>

#include "dat_side.hpp"
#include "peer.hpp"

namespace rsmperf {

// The passive side does this once it listens.
enum class DatRole {
    stay,           // accepts for each endpoint, and does nothing
    echo,           // answers each message, polling
    echo_sleeping,  // the same, waiting in dat_evd_wait()
    sink,           // receives messages, polling
    echo_writes,    // waits for the last byte of a write to change, and writes the same back
    accept_for_ever // accepts as often as somebody connects
};

struct DatShape {
    std::size_t size = MiB; // of a message or a write; memory is at least a page
    std::size_t endpoints = 1;
    std::vector<DatRegion> regions = {}; // besides the first
};

class DatServer {
  public:
    explicit DatServer(DatRole role, const DatShape &shape = {});
    DatServer(const DatServer &) = delete;
    DatServer(DatServer &&) = delete;
    DatServer &operator=(const DatServer &) = delete;
    DatServer &operator=(DatServer &&) = delete;
    ~DatServer() { peer_.kill(); }

    // The side's endpoints, one by one. Before it the side posts receives, after it the roles run.
    void connect(DatSide &side);

    [[nodiscard]] DAT_CONN_QUAL qualifier() const { return qualifier_; }
    [[nodiscard]] const DatMemory &memory() const { return regions_.front(); }
    [[nodiscard]] const std::vector<DatMemory> &regions() const { return regions_; }

  private:
    Peer peer_;
    DAT_CONN_QUAL qualifier_;
    std::vector<DatMemory> regions_;
};

// A side that writes to and fro receives in the second half of its memory. Every write ends with
// another byte than the one before.
inline volatile char &last_byte_in(const DatSide &side, std::size_t size) {
    return side.data()[whole_pages(size) + size - 1];
}
inline void wait_for_turn(const DatSide &side, std::size_t size, char turn) {
    const volatile char &last = last_byte_in(side, size);
    while (last != turn) {
    }
}
// The place of the peer's half.
inline DatMemory incoming_half(const DatMemory &memory, std::size_t size) {
    return {memory.context, memory.address + whole_pages(size)};
}

// One receive more than has to be there: the next can be posted while a message is on its way, as
// ucx_perftest does and programs do.
void post_receives(DatSide &side, std::size_t size);

} // namespace rsmperf
