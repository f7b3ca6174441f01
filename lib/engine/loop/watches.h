// SPDX-License-Identifier: MIT
// The descriptors that the engine sleeps on, and the Source of each.
#pragma once

#include "engine/loop/handle_fd.h"

#include <cstdint>
#include <span>
#include <sys/epoll.h>
#include <unordered_map>

namespace rsmengine {

class Source;

class Watches {
  public:
    Watches(); // throws std::bad_alloc

    void add(int fd, std::uint32_t events, Source &source); // throws std::bad_alloc
    void remove(int fd) noexcept;
    // The Source of an event of wait(); null if it has been removed meanwhile.
    [[nodiscard]] Source *source_of(const epoll_event &event) const noexcept;

    // Waits without a lock until there is an event, until wake(), or for `timeout` milliseconds
    // (negative: without a limit). Returns the number of events; it is negative only if the program
    // has closed the descriptors of this object.
    int wait(std::span<epoll_event> events, int timeout) const noexcept;
    void wake() const noexcept;

  private:
    void control(int operation, int fd, std::uint32_t events, std::uint64_t number) const;

    HandleFd epoll_;
    HandleFd bell_;
    std::uint64_t last_ = 0; // a number tells a descriptor from an earlier one; the bell has 0
    std::unordered_map<int, std::uint64_t> numbers_;
    std::unordered_map<std::uint64_t, Source *> sources_;
};

} // namespace rsmengine
