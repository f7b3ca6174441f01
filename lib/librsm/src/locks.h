// SPDX-License-Identifier: MIT
// All locks of the library in one place, so that fork() can take them.
//
// Order: ranges, segments (ascending), controllers, pollfds, table, pool. None is held
// across a command that can wait for another process or node, except for ranges, for which
// only a rebind waits. The data path takes no lock.
#pragma once

#include <array>
#include <cstddef>
#include <mutex>

namespace rsm {

struct Locks {
    // A segment's lock is picked by its slot: that keeps handles small and
    // fork() from having to lock each of them.
    std::array<std::mutex, 64> segments;
    // The ranges at which exporters map segments that are in a window.
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
