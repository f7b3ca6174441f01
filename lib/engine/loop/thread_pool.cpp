// SPDX-License-Identifier: MIT
#include "engine/loop/thread_pool.h"

#include "engine/loop/blocking.h"

#include <condition_variable>
#include <csignal>
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

namespace {

class FunctionJob final : public Job {
  public:
    explicit FunctionJob(ThreadPool::Function what) noexcept : what_(std::move(what)) {}
    void run() noexcept override { what_(); }

  private:
    ThreadPool::Function what_;
};

} // namespace

struct ThreadPool::Shared {
    explicit Shared(Function its) noexcept : before(std::move(its)) {}
    void work();
    std::unique_ptr<Job> take();

    const Function before;
    std::mutex mutex;
    std::condition_variable changed;
    JobQueue jobs;
    std::size_t idle = 0;
    bool stopped = false;
};

void ThreadPool::Shared::work() {
    while (const auto job = take()) {
        if (before)
            before();
        job->run();
    }
}

// Null when the pool has stopped.
std::unique_ptr<Job> ThreadPool::Shared::take() {
    std::unique_lock guard(mutex);
    ++idle;
    changed.wait(guard, [this] { return stopped || jobs.size() > 0; });
    --idle;
    return stopped ? nullptr : jobs.pop();
}

ThreadPool::ThreadPool(std::size_t most, Function before)
    : most_(most), shared_(std::make_shared<Shared>(std::move(before))) {
    threads_.reserve(most);
}

ThreadPool::~ThreadPool() {
    stop();
}

void ThreadPool::stop() noexcept {
    std::vector<std::thread> threads;
    JobQueue dropped;
    {
        const std::scoped_lock guard(shared_->mutex);
        shared_->stopped = true;
        threads.swap(threads_);
        dropped.swap(shared_->jobs);
    }
    shared_->changed.notify_all();
    about_to_block("end of helpers");
    for (std::thread &thread : threads)
        if (thread.get_id() == std::this_thread::get_id())
            thread.detach();
        else
            thread.join();
}

void ThreadPool::start() {
    const std::scoped_lock guard(shared_->mutex);
    if (!shared_->stopped && threads_.empty())
        start_thread();
}

void ThreadPool::run(Function what) {
    auto job = std::make_unique<FunctionJob>(std::move(what));
    start();
    run(std::move(job));
}

// The job of a pool that has stopped is destroyed when the mutex is free.
void ThreadPool::run(std::unique_ptr<Job> job) noexcept {
    const std::scoped_lock guard(shared_->mutex);
    if (shared_->stopped)
        return;
    put(std::move(job));
}

void ThreadPool::put(std::unique_ptr<Job> job) noexcept {
    shared_->jobs.push(std::move(job));
    if (shared_->jobs.size() > shared_->idle && threads_.size() < most_)
        start_another_thread();
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
