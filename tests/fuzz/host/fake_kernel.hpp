// SPDX-License-Identifier: GPL-2.0
// /dev/rsm for one process: descriptors of memory, and commands that the linker's option --wrap=ioctl
// brings here. So provider rsm's own code makes, maps and connects to segments; a target says what
// the kernel brings from other processes and nodes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <linux/rsm.h>
#include <map>
#include <span>
#include <vector>

namespace rsmtest::fuzz {

constexpr std::uint32_t OWN_NODE = 1;

// The target of the next connection. The length is that of the segment; it shows the bytes at its
// start.
struct Foreign {
    std::uint32_t status = RSM_SUCCESS;
    std::uint64_t length = 0;
    std::vector<std::byte> bytes;
};

struct Kernel {
    Foreign foreign;
    std::map<unsigned long, std::uint32_t> failures; // statuses of the next of these commands
    unsigned redeems = std::numeric_limits<unsigned>::max(); // that succeed
    int bound = -1;                                          // the handle that was bound last
    std::deque<std::array<std::uint64_t, RSM_MESSAGE_WORDS>> letters; // to be received
    std::vector<std::byte> put;                                      // what the last PUTV wrote
    std::uint64_t put_offset = 0;
};

extern Kernel kernel;

} // namespace rsmtest::fuzz
