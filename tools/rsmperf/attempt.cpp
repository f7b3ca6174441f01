// SPDX-License-Identifier: GPL-2.0
#include "attempt.hpp"

#include <sys/mman.h>

#include "memory.hpp"
#include "peer.hpp"

namespace rsmperf {

namespace {

// By so much memory is displaced from one process to the next.
constexpr std::size_t displacement_pages = 53;

struct Outcome {
    Times times;
    std::string error;
};

void send_samples(Channel &channel, const Samples &samples) {
    channel.send(samples.best_ns);
    channel.send(samples.operations_per_sample);
    channel.send_all(samples.ns);
}

Samples receive_samples(Channel &channel) {
    Samples samples;
    samples.best_ns = channel.expect<double>();
    samples.operations_per_sample = channel.expect<std::size_t>();
    samples.ns = channel.expect_all<double>();
    return samples;
}

Outcome measure(const Settings &settings, const Row &row) {
    try {
        return {row.run(settings), {}};
    } catch (const std::exception &error) {
        return {{}, error.what()};
    }
}

Outcome receive_outcome(Channel &channel) {
    try {
        const auto error = channel.expect_all<char>();
        Outcome outcome{{}, {error.begin(), error.end()}};
        outcome.times.figure = receive_samples(channel);
        outcome.times.floor = receive_samples(channel);
        return outcome;
    } catch (const std::exception &) {
        return {{}, "the measuring process has died"};
    }
}

// One process's times. Its leftovers, and the cause of its death, do not reach the next.
Outcome run_once(const Settings &settings, const Row &row, unsigned attempt) {
    Peer worker([&](Channel &channel) {
        run_on(Place::measuring);
        const Mapping displacement((attempt + 1) * displacement_pages * page_size(),
                                   MAP_PRIVATE | MAP_ANONYMOUS, -1);
        const auto outcome = measure(settings, row);
        channel.send_all(std::vector<char>(outcome.error.begin(), outcome.error.end()));
        send_samples(channel, outcome.times.figure);
        send_samples(channel, outcome.times.floor);
    });
    return receive_outcome(worker.channel());
}

} // namespace

Result run(Settings settings, const Row &row, const Point &point, const Progress &progress) {
    settings.point = point;
    Result result{row, point, {}, {}};

    for (unsigned attempt = 0; attempt < settings.processes && result.measured(); attempt++) {
        progress.process(attempt + 1, settings.processes);
        const auto outcome = run_once(settings, row, attempt);
        result.error = outcome.error;
        result.times.figure.merge(outcome.times.figure);
        result.times.floor.merge(outcome.times.floor);
    }
    return result;
}

} // namespace rsmperf
