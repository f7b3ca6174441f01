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

    // Without a lock. How many events there are; until wake(), or the time in milliseconds is over
    // (negative: for ever). Negative only when the program has closed our descriptors.
    int wait(std::span<epoll_event> events, int timeout) const noexcept;
    void wake() const noexcept;

  private:
    void control(int operation, int fd, std::uint32_t events, std::uint64_t number) const;

    HandleFd epoll_;
    HandleFd bell_;
    std::uint64_t last_ = 0; // numbers tell a descriptor from an earlier one; the bell's is 0
    std::unordered_map<int, std::uint64_t> numbers_;
    std::unordered_map<std::uint64_t, Source *> sources_;
};

} // namespace rsmengine
