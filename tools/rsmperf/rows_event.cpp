// SPDX-License-Identifier: GPL-2.0
// Doorbells against eventfd.
#include "bell_echo.hpp"
#include "event_echo.hpp"
#include "rows.hpp"
#include "segment.hpp"

namespace rsmperf {

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
    times.divide(2);
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
