// SPDX-License-Identifier: MIT
#include "engine/loop/thread_pool.h"

#include <condition_variable>
#include <csignal>
#include <deque>
#include <mutex>
#include <new>
#include <pthread.h>
#include <system_error>
#include <utility>

namespace rsmengine {
namespace {

// Block all signals while the thread is created, which inherits the mask: the consumer's handlers
// do not run on it.
class SignalsBlocked {
  public:
    SignalsBlocked() noexcept {
        sigset_t all;
        ::sigfillset(&all);
        ::pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    SignalsBlocked(SignalsBlocked &&) = delete;
    SignalsBlocked(const SignalsBlocked &) = delete;
    SignalsBlocked &operator=(SignalsBlocked &&) = delete;
    SignalsBlocked &operator=(const SignalsBlocked &) = delete;

  private:
    sigset_t before_{};
};

} // namespace

std::thread make_thread(std::function<void()> body) {
    const SignalsBlocked blocked;
    try {
        std::thread thread(std::move(body));
        (void)::pthread_setname_np(thread.native_handle(), "rsm-dat");
        return thread;
    } catch (const std::system_error &) {
        throw std::bad_alloc();
    }
}

struct ThreadPool::Shared {
    void work();
    bool take(Job &job);

    std::mutex mutex;
    std::condition_variable changed;
    std::deque<Job> jobs;
    std::size_t idle = 0;
    bool stopped = false;
};

void ThreadPool::Shared::work() {
    for (;;) {
        Job job;
        if (!take(job))
            return;
        job();
    }
}

// False when the pool has stopped.
bool ThreadPool::Shared::take(Job &job) {
    std::unique_lock guard(mutex);
    ++idle;
    changed.wait(guard, [this] { return stopped || !jobs.empty(); });
    --idle;
    if (stopped)
        return false;
    job = std::move(jobs.front());
    jobs.pop_front();
    return true;
}

ThreadPool::ThreadPool(std::size_t most) : most_(most), shared_(std::make_shared<Shared>()) {
    threads_.reserve(most);
}

ThreadPool::~ThreadPool() {
    stop();
}

void ThreadPool::stop() noexcept {
    std::vector<std::thread> threads;
    std::deque<Job> dropped;
    {
        const std::scoped_lock guard(shared_->mutex);
        shared_->stopped = true;
        threads.swap(threads_);
        dropped.swap(shared_->jobs);
    }
    shared_->changed.notify_all();
    for (std::thread &thread : threads)
        if (thread.get_id() == std::this_thread::get_id())
            thread.detach();
        else
            thread.join();
}

void ThreadPool::run(Job job) {
    {
        const std::scoped_lock guard(shared_->mutex);
        if (shared_->stopped)
            return;
        if (threads_.empty())
            start_thread();
        shared_->jobs.push_back(std::move(job));
        if (shared_->jobs.size() > shared_->idle && threads_.size() < most_)
            start_another_thread();
    }
    shared_->changed.notify_one();
}

void ThreadPool::start_thread() {
    threads_.push_back(make_thread([shared = shared_] { shared->work(); }));
}

// If no thread can be created, the existing threads do the work later.
void ThreadPool::start_another_thread() noexcept {
    try {
        start_thread();
    } catch (const std::bad_alloc &) {
        return;
    }
}

} // namespace rsmengine
