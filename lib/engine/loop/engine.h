// SPDX-License-Identifier: MIT
// The thread of an Ia: sleeps until a doorbell rings, a connection dies or a time comes. It uses no
// CPU while nothing happens, and does nothing that may block: that is done aside, on other threads.
#pragma once

#include "engine/core/ia.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>

namespace rsmdat {

class Doorbell;
class Feeder;
class ThreadPool;

// Something with a descriptor that can become ready.
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

    // Ia::lock not held: waits for all threads but the one that calls this (in an agent). Work that
    // has not begun is dropped, and so is what is to be done from then on.
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
    // The same for work of ours that may block. No other work has to wait for it. `what` is
    // destroyed without Ia::lock.
    void aside(std::function<void()> what);
    // Is this the thread of an engine? Nothing may block on it.
    [[nodiscard]] static bool is_this_thread() noexcept;

    // Doorbells whose peers need not ring because somebody polls. The engine looks at those with
    // listeners every few milliseconds; what nobody has polled meanwhile is armed again. With
    // Ia::lock held.
    void disarmed(Doorbell &bell, Feeder &feeder) noexcept;
    void gone(Doorbell &bell) noexcept;
    // Arms and polls all of them, before a thread sleeps, which then looks at its queue once more,
    // and when one of them may have got its first listener.
    void arm_all() noexcept;

  private:
    class Inside;
    std::shared_ptr<Inside> inside_; // the thread's, too
    std::unique_ptr<ThreadPool> helpers_;
    std::unique_ptr<ThreadPool> caller_;
    std::thread thread_;
};

} // namespace rsmdat
