// SPDX-License-Identifier: MIT
// The thread of an Ia. It sleeps until a doorbell rings, a connection dies or an alarm is due, and
// uses no CPU meanwhile. Engine::aside runs work that may block on other threads.
#pragma once

#include "engine/core/ia.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>

namespace rsmengine {

class Doorbell;
class Feeder;
class Job;
class ThreadPool;

// An object with a descriptor that the engine watches.
class Source {
  public:
    // epoll's events. On the engine's thread with Ia::lock held. Level-triggered: take the events
    // away or call Engine::forget. Must not destroy other Sources' owners except through
    // Ia::destroy.
    virtual void ready(std::uint32_t events) noexcept = 0;

  protected:
    ~Source() = default;
};

class Engine {
  public:
    using Clock = std::chrono::steady_clock;
    using Alarm = std::uint64_t; // 0: none

    explicit Engine(Ia &ia);     // throws std::bad_alloc
    explicit Engine(Lock &lock); // Ia::lock
    ~Engine();                   // stops
    Engine(const Engine &) = delete;
    Engine &operator=(const Engine &) = delete;

    // Ia::lock not held. Waits for all threads of the engine but the calling one, which may be in
    // an agent. Drops work that has not begun, and all later work.
    void stop() noexcept;

    // With Ia::lock held; ready() is not called any more once forget() has returned. Watching a
    // descriptor again replaces what was. Throws std::bad_alloc.
    void watch(int fd, std::uint32_t events, Source &source);
    void forget(int fd) noexcept;
    // With Ia::lock held; `what` runs on the engine's thread with Ia::lock held, unless cancelled.
    // It must not throw. Throws std::bad_alloc.
    Alarm at(Clock::time_point when, std::function<void()> what);
    void cancel(Alarm alarm) noexcept;
    // With Ia::lock held; runs `what`, which must not throw, on a thread of its own without
    // Ia::lock: for functions of the consumer's. One after the other in the order of the calls.
    // Throws std::bad_alloc.
    void later(std::function<void()> what);
    // The same for work of the library that may block; other work does not wait for it. `what` is
    // destroyed without Ia::lock.
    void aside(std::function<void()> what);
    // Runs and destroys a job without Ia::lock on another thread, when the calling thread has given
    // Ia::lock up: for the end of objects, which may take long. Does not fail, and waits for no
    // work of aside(). stop() destroys the jobs that have not begun.
    void end_aside(std::unique_ptr<Job> last) noexcept;
    // True on the thread of an engine, which must not block.
    [[nodiscard]] static bool is_this_thread() noexcept;

    // Adds a doorbell that is disarmed because a thread polls. Every few milliseconds the engine
    // polls those that a thread waits on, and arms again those that no thread has polled meanwhile.
    // Ia::lock held.
    void disarmed(Doorbell &bell, Feeder &feeder) noexcept;
    void gone(Doorbell &bell) noexcept;
    // Arms and polls all disarmed doorbells. Called before a thread sleeps, which then looks at its
    // queue once more, and when the first thread may have begun to wait on one of them.
    void arm_all() noexcept;

  private:
    class Inside;
    std::shared_ptr<Inside> inside_; // the thread's, too
    std::unique_ptr<ThreadPool> helpers_;
    std::unique_ptr<ThreadPool> caller_;
    std::unique_ptr<ThreadPool> enders_;
    std::thread thread_;
};

} // namespace rsmengine
