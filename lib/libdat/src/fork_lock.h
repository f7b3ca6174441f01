// SPDX-License-Identifier: MIT
// A lock that its holder may take again, and that fork() leaves in order.
#pragma once

#include <atomic>
#include <mutex>
#include <pthread.h>

namespace dat {

// std::recursive_mutex can't be released by the child of a fork(): it knows its
// holder by the kernel's number of the thread, which is another in the child.
class ForkLock {
  public:
    void lock() noexcept {
        if (holder_.load(std::memory_order_relaxed) == ::pthread_self()) {
            ++depth_;
            return;
        }
        mutex_.lock();
        holder_.store(::pthread_self(), std::memory_order_relaxed);
    }

    void unlock() noexcept {
        if (depth_ != 0) {
            --depth_;
            return;
        }
        holder_.store(pthread_t(), std::memory_order_relaxed);
        mutex_.unlock();
    }

  private:
    std::mutex mutex_;
    std::atomic<pthread_t> holder_{};
    unsigned depth_ = 0; // beyond the first; its holder's
};

} // namespace dat
