// SPDX-License-Identifier: MIT
// Threads beside the engine's, for what may take long. They are started when there is work for
// them.
#pragma once

#include <functional>
#include <memory>
#include <thread>
#include <vector>

namespace rsmengine {

class ThreadPool {
  public:
    using Job = std::function<void()>;

    explicit ThreadPool(std::size_t most); // throws std::bad_alloc
    ~ThreadPool();                         // stops
    ThreadPool(const ThreadPool &) = delete;
    ThreadPool &operator=(const ThreadPool &) = delete;

    // Jobs begin in the order of the calls; a job, which must not throw, is destroyed on the thread
    // that ran it. Throws std::bad_alloc; the job has not been taken then.
    void run(Job job);
    // Jobs that have not begun, and those to come, are dropped. Waits for those that have begun,
    // but for the one that calls this.
    void stop() noexcept;

  private:
    struct Shared;
    void start_thread();
    void start_another_thread() noexcept;

    const std::size_t most_;
    std::shared_ptr<Shared> shared_;   // the threads', too
    std::vector<std::thread> threads_; // guarded by the mutex of what is shared
};

// A thread of the library's with the consumer's signals blocked. Throws std::bad_alloc.
std::thread make_thread(std::function<void()> body);

} // namespace rsmengine
