// SPDX-License-Identifier: GPL-2.0
// Orders about events and about being told of a disconnect.
#include "net/peer/worker.hpp"

#include <chrono>
#include <poll.h>

namespace rsmtest::net {
namespace {

// post SEGMENT FLAGS
Answer post(Worker &worker, Args &args) {
    void *segment = worker.segment(args.word());
    return {rsm_intr_signal_post(segment, args.as<uint_t>())};
}

// wait SEGMENT MILLISECONDS
Answer wait(Worker &worker, Args &args) {
    void *segment = worker.segment(args.word());
    return {rsm_intr_signal_wait(segment, args.as<int>())};
}

// events SEGMENT: consumes what is pending, and counts it
Answer events(Worker &worker, Args &args) {
    void *segment = worker.segment(args.word());
    std::uint64_t count = 0;
    int status = RSM_SUCCESS;
    while ((status = rsm_intr_signal_wait(segment, 0)) == RSM_SUCCESS)
        count++;
    return {status == RSMERR_TIMEOUT ? RSM_SUCCESS : status, {count}};
}

// Polls a segment without consuming anything; what it reports.
short poll_segment(void *segment, short wanted, int milliseconds) {
    pollfd entry{};
    if (rsm_memseg_get_pollfd(segment, &entry) != RSM_SUCCESS)
        throw BadOrder("no descriptor");
    rsm_memseg_release_pollfd(segment);
    entry.events = wanted;
    entry.revents = 0;
    ::poll(&entry, 1, milliseconds);
    return entry.revents;
}

// poll SEGMENT MILLISECONDS: 1 if an event is pending, which stays so
Answer poll_event(Worker &worker, Args &args) {
    void *segment = worker.segment(args.word());
    const short result = poll_segment(segment, POLLRDNORM, args.as<int>());
    return {RSM_SUCCESS, {(result & POLLRDNORM) != 0}};
}

// hangup IMPORT: 1 once it is disconnected
Answer hangup(Worker &worker, Args &args) {
    void *segment = worker.segment(args.word());
    const short result = poll_segment(segment, POLLRDHUP, -1);
    return {RSM_SUCCESS, {(result & POLLRDHUP) != 0}};
}

// wait_pollfd MILLISECONDS SEGMENT...: entries that are ready; one event of each is consumed
Answer wait_pollfd(Worker &worker, Args &args) {
    const int milliseconds = args.as<int>();
    std::vector<void *> segments;
    std::vector<pollfd> entries;
    while (!args.empty()) {
        segments.push_back(worker.segment(args.word()));
        if (rsm_memseg_get_pollfd(segments.back(), &entries.emplace_back()) != RSM_SUCCESS)
            throw BadOrder("no descriptor");
    }
    int ready = 0;
    const int status =
        rsm_intr_signal_wait_pollfd(entries.data(), entries.size(), milliseconds, &ready);
    for (void *segment : segments)
        rsm_memseg_release_pollfd(segment);
    return {status, {static_cast<std::uint64_t>(ready)}};
}

constexpr Verb verbs[] = {
    {"post", post},       {"wait", wait},     {"events", events},
    {"poll", poll_event}, {"hangup", hangup}, {"wait_pollfd", wait_pollfd},
};

} // namespace

std::span<const Verb> event_verbs() {
    return verbs;
}

} // namespace rsmtest::net
