// SPDX-License-Identifier: GPL-2.0
// Messages of QEMU's ivshmem-spec: 8 bytes, little-endian, perhaps with a descriptor.
#pragma once

#include <cstdint>

namespace ivshmem {

constexpr std::int64_t protocol_version = 0;
// The number that the descriptor of the shared memory comes with.
constexpr std::int64_t shared_memory = -1;
constexpr int no_descriptor = -1;

struct Message {
    std::int64_t number;
    int descriptor = no_descriptor; // borrowed
};

enum class Sent {
    yes,
    full,      // until the client reads what is on its way
    exhausted, // the kernel is short of something; no event will tell when it no longer is
    broken,    // the connection is of no use any more
};

// Never blocks, never raises SIGPIPE.
Sent send_message(int connection, const Message &message);

} // namespace ivshmem
