// SPDX-License-Identifier: MIT
// Threads beside the engine's, for what may take long. They are started when there is work for
// them.
#pragma once

#include "engine/loop/job.h"

#include <functional>
#include <memory>
#include <thread>
#include <vector>

namespace rsmengine {

class ThreadPool {
  public:
    using Function = std::function<void()>;

    // `before`, which must not throw, runs before each job. Throws std::bad_alloc.
    explicit ThreadPool(std::size_t most, Function before = {});
    ~ThreadPool(); // stops
    ThreadPool(const ThreadPool &) = delete;
    ThreadPool &operator=(const ThreadPool &) = delete;

    // Jobs begin in the order of the calls; a job is destroyed on the thread that ran it. `what`
    // must not throw. Throws std::bad_alloc; nothing has been taken then.
    void run(Function what);
    // A thread exists from now on: run() of a Job needs no memory then. Throws std::bad_alloc.
    void start();
    void run(std::unique_ptr<Job> job) noexcept;
    // Destroys jobs that have not begun, and those to come, on the calling thread. Waits for those
    // that have begun, but for the one that calls this.
    void stop() noexcept;

  private:
    struct Shared;
    void put(std::unique_ptr<Job> job) noexcept;
    void start_thread();
    void start_another_thread() noexcept;

    const std::size_t most_;
    std::shared_ptr<Shared> shared_;   // the threads', too
    std::vector<std::thread> threads_; // guarded by the mutex of what is shared
};

// A thread of the library's with the consumer's signals blocked. Throws std::bad_alloc.
std::thread make_thread(std::function<void()> body);

} // namespace rsmengine
