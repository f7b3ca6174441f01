// SPDX-License-Identifier: MIT
// Work for a thread of a pool, and what an object is whose end may wait.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

namespace rsmengine {

// A thread of a ThreadPool runs a job and destroys it. An object whose destructor may wait for
// another node or for another thread derives from this class: Engine::end_aside() then takes no
// memory, so it can't fail.
class Job {
  public:
    virtual ~Job() = default;
    Job(const Job &) = delete;
    Job &operator=(const Job &) = delete;

    virtual void run() noexcept {}

  protected:
    Job() = default;

  private:
    friend class JobQueue;
    std::unique_ptr<Job> next_;
};

// Ends one owner's part in an object that several share.
template <class Shared>
class SharedJob final : public Job {
  public:
    explicit SharedJob(std::shared_ptr<Shared> its) noexcept : object(std::move(its)) {}

    std::shared_ptr<Shared> object;
};

// Jobs in the order in which they came.
class JobQueue {
  public:
    JobQueue() = default;
    JobQueue(const JobQueue &) = delete;
    JobQueue &operator=(const JobQueue &) = delete;
    ~JobQueue() {
        while (pop() != nullptr)
            continue;
    }

    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    void push(std::unique_ptr<Job> job) noexcept {
        std::unique_ptr<Job> &place = last_ != nullptr ? last_->next_ : first_;
        place = std::move(job);
        last_ = place.get();
        ++size_;
    }
    // Null if there is none.
    std::unique_ptr<Job> pop() noexcept {
        auto job = std::move(first_);
        if (job == nullptr)
            return job;
        first_ = std::move(job->next_);
        if (--size_ == 0)
            last_ = nullptr;
        return job;
    }
    void swap(JobQueue &other) noexcept {
        std::swap(first_, other.first_);
        std::swap(last_, other.last_);
        std::swap(size_, other.size_);
    }

  private:
    std::unique_ptr<Job> first_;
    Job *last_ = nullptr;
    std::size_t size_ = 0;
};

} // namespace rsmengine
