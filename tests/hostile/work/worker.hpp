// SPDX-License-Identifier: GPL-2.0
// Threads that use segments all the time.
#pragma once

#include "work/watch.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <rsmapi.h>
#include <thread>

namespace hostile {

// Private pages, as exports need them.
class Memory {
  public:
    explicit Memory(std::size_t size);
    Memory(const Memory &) = delete;
    Memory &operator=(const Memory &) = delete;
    ~Memory();
    void *data() const { return base_; }
    std::uint64_t *words() const { return static_cast<std::uint64_t *>(base_); }
    std::size_t size() const { return size_; }

  private:
    void *base_;
    std::size_t size_;
};

rsmapi_controller_handle_t controller(const char *name);

// Does one thing over and over until it ends.
class Worker {
  public:
    // The rest of a step is left out where it can't succeed.
    using Step = std::function<void(Watched &, std::mt19937 &)>;

    explicit Worker(Step step);
    ~Worker();
    std::uint64_t good() const { return watched_.good(); }
    std::uint64_t bad() const { return watched_.bad(); }
    std::uint64_t rounds() const { return rounds_; }

  private:
    Watched watched_;
    std::atomic<std::uint64_t> rounds_{0};
    std::atomic<bool> stop_{false};
    std::thread thread_;
};

// Export, import and everything else between two handles of this node. Any failure is fatal.
Worker::Step local_step();
// Publishes a segment to the other nodes, for a while.
Worker::Step export_step(std::uint32_t node, std::uint32_t index);
// Uses a segment of another node, or finds that it can't.
Worker::Step import_step(std::uint32_t node);

// Returns once the node is there that shows the end of a sweep.
void await_beacon();

// Milliseconds until the other node's segments could be used again, and messages came by interrupts.
std::int64_t recovery_time(std::uint32_t node);

} // namespace hostile
