// SPDX-License-Identifier: GPL-2.0
// Doorbells against eventfd.
#include <cstdint>

#include <sys/eventfd.h>
#include <unistd.h>

#include "bell_echo.hpp"
#include "rows.hpp"
#include "segment.hpp"

namespace rsmperf {

namespace {

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

} // namespace

BellEcho::BellEcho()
    : peer_([](Channel &channel) {
          const PrivateMemory memory(page_size());
          const Controller controller;
          Export segment(controller, memory.data(), memory.size());
          channel.send(segment.publish());
          for (;;) {
              check_rsm(rsm_intr_signal_wait(segment.get(), -1), "rsm_intr_signal_wait");
              check_rsm(rsm_intr_signal_post(segment.get(), 0), "rsm_intr_signal_post");
          }
      }),
      id_(peer_.channel().expect<rsm_memseg_id_t>()) {}

Times wake(const Settings &settings) {
    const EventEcho events;
    const BellEcho bells;
    const Controller controller;
    const Import import(controller, bells.id());

    const auto bell = repeat([handle = import.get()] { signal_round_trip(handle); });
    auto times = compare(settings, bell, repeat([&events] { events.round_trip(); }));

    // A round trip wakes two processes.
    times.figure_ns /= 2;
    times.floor_ns /= 2;
    return times;
}

Times post(const Settings &settings) {
    const Exporter exporter(page_size());
    const Event event;
    const Controller controller;
    const Import import(controller, exporter.id());

    const auto bell = repeat([handle = import.get()] {
        check_rsm(rsm_intr_signal_post(handle, 0), "rsm_intr_signal_post");
    });
    return compare(settings, bell, repeat([&event] { event.signal(); }));
}

} // namespace rsmperf
