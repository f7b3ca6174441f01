// SPDX-License-Identifier: GPL-2.0
// The other host of the figures over RDMA: it takes one order after the other by TCP and is then
// the other side of a measurement, until the connection is closed.
#pragma once

#include <array>
#include <cstdint>

#include <netinet/in.h>

#include "dat_side.hpp"
#include "measure.hpp"
#include "segment.hpp"

namespace rsmperf {

// The IA of dat.conf, and the controller, that stand for the device.
inline constexpr const char *rdma_adapter = "verbs0";
inline constexpr const char *rdma_controller = "rdma0";
// Memory of a side: operations go out from the first half, and come in into the second.
constexpr std::size_t rdma_half = MiB;
constexpr std::size_t rdma_memory = 2 * rdma_half;

enum class RdmaRole : std::uint32_t {
    program,  // the server of a program of perftest
    dat_echo, // answers each RDMA write with one
    dat_stay, // only lets its memory be used
    put_echo, // answers each put with one
    put_stay, // only lets its segment be used
};

struct RdmaOrder {
    RdmaRole role;
    std::uint64_t size; // bytes of an operation
    std::array<char, 32> test;
};

// A side sends this about itself as soon as it can be reached.
struct RdmaSide {
    DAT_CONN_QUAL qualifier;
    DatMemory memory;
    rsm_node_id_t node;
    rsm_memseg_id_t segment;
};

// Serves until it is killed.
[[noreturn]] void serve_rdma();

// For the measuring host: a side at an address that takes this order. It needs a while to come.
Channel order_rdma(const sockaddr_in &address, const RdmaOrder &order);

// Where the last byte of an operation that comes in is. Every operation ends with another byte.
inline volatile char &last_byte_in(char *memory, std::size_t size) {
    return memory[rdma_half + size - 1];
}
// To be done before the other side learns where the memory is: what fills it is the first turn's.
inline void clear_last_byte(char *memory, std::size_t size) {
    last_byte_in(memory, size) = 0;
}
inline void wait_for_byte(char *memory, std::size_t size, char expected) {
    const volatile char &last = last_byte_in(memory, size);
    while (last != expected) {
    }
}

} // namespace rsmperf
