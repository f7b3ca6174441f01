// SPDX-License-Identifier: MIT
// The thread of an Ia: sleeps until a doorbell rings, a connection dies, a time comes or a agent is
// to be called. It uses no CPU while nothing happens.
#pragma once

#include "core/ia.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

namespace rsmdat {

class Channel;

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

    explicit Engine(Ia &ia);
    ~Engine(); // Ia::lock not held: joins the thread

    // With Ia::lock held; ready() is not called any more once forget() has returned.
    void watch(int fd, std::uint32_t events, Source &source);
    void forget(int fd) noexcept;
    // With Ia::lock held; `what` runs on the engine's thread with Ia::lock held, unless cancelled.
    Alarm at(Clock::time_point when, std::function<void()> what);
    void cancel(Alarm alarm) noexcept;
    // Runs `what` on the engine's thread without Ia::lock.
    void later(std::function<void()> what);

    // Channels whose peers need not ring because somebody polls. The engine looks at them every few
    // milliseconds; those that nobody has polled meanwhile are armed again.
    void disarmed(Channel &channel, class Feeder &feeder);
    void gone(Channel &channel) noexcept;
    // Arms all of them, before a thread sleeps; the caller then polls once more.
    void arm_all() noexcept;

  private:
    struct Inside;
    std::unique_ptr<Inside> inside_;
};

} // namespace rsmdat
