// SPDX-License-Identifier: MIT
// All locks of the library in one place, so that fork() can take them.
//
// Order: ranges, segments (ascending), controllers, pollfds, table, pool. None is held
// across a command that can wait for another process or node, but for ranges,
// which nothing but a rebind waits for. The data path takes none.
#pragma once

#include <array>
#include <cstddef>
#include <mutex>

namespace rsm {

struct Locks {
    // A segment's lock is picked by its slot: that keeps handles small and
    // fork() from having to lock each of them.
    std::array<std::mutex, 64> segments;
    // Where exporters see segments that live in a window.
    std::mutex ranges;
    std::mutex controllers;
    std::mutex pollfds;
    std::mutex table;
    std::mutex pool;

    std::mutex &of_segment(std::size_t slot) noexcept { return segments[slot % segments.size()]; }
};

extern constinit Locks locks;

// Makes fork() safe in a program with threads. Called once, before any other
// lock is contended. RSM_SUCCESS or RSMERR_INSUFFICIENT_MEM.
int install_fork_handlers() noexcept;

} // namespace rsm
