// SPDX-License-Identifier: GPL-2.0
// eventfd: the kernel's own way to wake another process.
#pragma once

#include <cstdint>

#include <sys/eventfd.h>
#include <unistd.h>

#include "peer.hpp"

namespace rsmperf {

class Event {
  public:
    Event() : file_(check_errno(eventfd(0, EFD_CLOEXEC), "eventfd")) {}

    void signal() const {
        const std::uint64_t one = 1;
        check_errno(write(file_.get(), &one, sizeof(one)), "write to an eventfd");
    }

    void wait() const {
        std::uint64_t count = 0;
        check_errno(read(file_.get(), &count, sizeof(count)), "read from an eventfd");
    }

  private:
    Descriptor file_;
};

// Bounces events of one eventfd back on another, in another process.
class EventEcho {
  public:
    EventEcho()
        : peer_([this](Channel &) {
              for (;;) {
                  there_.wait();
                  back_.signal();
              }
          }) {}
    EventEcho(const EventEcho &) = delete;
    EventEcho(EventEcho &&) = delete;
    EventEcho &operator=(const EventEcho &) = delete;
    EventEcho &operator=(EventEcho &&) = delete;
    ~EventEcho() { peer_.kill(); }

    void round_trip() const {
        there_.signal();
        back_.wait();
    }

  private:
    Event there_;
    Event back_;
    Peer peer_;
};

} // namespace rsmperf
