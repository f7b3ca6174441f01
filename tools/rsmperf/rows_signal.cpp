// SPDX-License-Identifier: GPL-2.0
// Signals to another node and back, against doorbells over loopback and against the bare doorbell
// of the device. One driver at a time has the device, so there floor and figure take turns by
// processes, not by rounds.
#include <unistd.h>

#include "bell_echo.hpp"
#include "doorbell.hpp"
#include "rows.hpp"
#include "service.hpp"

namespace rsmperf {

namespace {

// Nothing ends a wait for a node that has died, but this.
constexpr unsigned most_seconds = 120;

Batch signal_batch(const Import &import) {
    return repeat([handle = import.get()] { signal_round_trip(handle); });
}

Samples all_rounds(const Settings &settings, const Batch &batch) {
    const auto round = batches(settings, batch);
    Samples samples;
    for (unsigned at = 0; at < settings.rounds; at++) {
        round(samples);
    }
    return samples;
}

Samples time_doorbells(const Settings &settings, std::uint32_t address) {
    const Doorbell doorbell;
    doorbell.wait_for_answers(address);

    const Ticks limit(most_seconds * 1000);
    return all_rounds(settings, repeat([&doorbell, address] {
                          doorbell.ring(address);
                          if (!doorbell.wait()) {
                              throw std::runtime_error("a doorbell was not answered");
                          }
                      }));
}

std::uint32_t doorbell_address(rsm_addr_t address) {
    if (address > most_doorbell_address) {
        throw std::runtime_error("the controller has no doorbells of an ivshmem device");
    }
    return static_cast<std::uint32_t>(address);
}

// Returns with the other node about to answer doorbells, and its address.
Samples time_signals(const Settings &settings, std::uint32_t &peer) {
    const Controller controller = reach_service(settings);
    const Import service(controller, service_id);
    const Topology topology;
    const auto own = doorbell_address(topology.own_address(settings.controller));
    peer = doorbell_address(topology.address(settings.controller, settings.peer));

    auto samples = all_rounds(settings, signal_batch(service));
    order_doorbells(service, own);
    return samples;
}

} // namespace

Times peer_signal(const Settings &settings) {
    alarm(most_seconds);
    check_doorbell_driver();
    Times times;
    std::uint32_t peer = 0;
    times.figure = time_signals(settings, peer);
    times.floor = time_doorbells(settings, peer);
    return times;
}

Times peer_wake(const Settings &settings) {
    const BellEcho bells;
    alarm(most_seconds);
    const Controller near;
    const Controller far = reach_service(settings);
    const Import near_bell(near, bells.id());
    const Import far_bell(far, service_id);

    return compare(settings, signal_batch(far_bell), signal_batch(near_bell));
}

} // namespace rsmperf
