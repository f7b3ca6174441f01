// SPDX-License-Identifier: GPL-2.0
#include "service.hpp"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <optional>
#include <thread>

#include "doorbell.hpp"

namespace rsmperf {

namespace {

using Clock = std::chrono::steady_clock;

// Where the order is: one more than the address to answer to, or 0.
constexpr std::size_t order_offset = service_size - sizeof(std::uint64_t);

std::optional<std::uint32_t> take_order(const Mapping &memory) {
    auto *word = reinterpret_cast<std::uint64_t *>(memory.data() + order_offset);
    const auto order = std::atomic_ref(*word).exchange(0);
    if (order == 0 || order > most_doorbell_address + 1) {
        return std::nullopt;
    }
    return static_cast<std::uint32_t>(order - 1);
}

// Returns the client that wants to ring doorbells.
std::uint32_t answer_signals(const Settings &settings) {
    const PrivateMemory memory(service_size);
    take_order(memory);
    const Controller controller(settings.controller, 0);
    Export segment(controller, memory.data(), memory.size());
    segment.publish(service_id);

    for (;;) {
        check_rsm(rsm_intr_signal_wait(segment.get(), -1), "rsm_intr_signal_wait");
        const auto order = take_order(memory);
        check_rsm(rsm_intr_signal_post(segment.get(), 0), "rsm_intr_signal_post");
        if (order) {
            return *order;
        }
    }
}

bool is_served(const Settings &settings, bool must_be) {
    try {
        const Controller controller(settings.controller, settings.peer);
        const Import service(controller, service_id);
        return true;
    } catch (const std::runtime_error &) {
        if (must_be) {
            throw;
        }
        return false;
    }
}

} // namespace

void serve(const Settings &settings) {
    for (;;) {
        const auto address = answer_signals(settings);
        try {
            Doorbell().answer(address);
        } catch (const std::exception &error) {
            (void)std::fprintf(stderr, "rsmperf: %s\n", error.what());
        }
    }
}

Controller reach_service(const Settings &settings) {
    const auto end = Clock::now() + std::chrono::minutes(1);
    while (!is_served(settings, Clock::now() > end)) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return {settings.controller, settings.peer};
}

void order_doorbells(const Import &service, std::uint32_t own_address) {
    std::uint64_t order = own_address + std::uint64_t{1};
    check_rsm(rsm_memseg_import_put64(service.get(), order_offset, &order, 1),
              "rsm_memseg_import_put64");
    signal_round_trip(service.get());
}

} // namespace rsmperf
