// SPDX-License-Identifier: GPL-2.0
// Does a connect get slower when the node has very many segments? Publishing them takes seconds, so
// floor and figure take turns by processes here, not by rounds.
#include <algorithm>
#include <limits>
#include <vector>

#include <sys/resource.h>

#include "connection.hpp"
#include "rows.hpp"

namespace rsmperf {

namespace {

constexpr unsigned few_segments = 10;
// Descriptors of a publisher that are not segments.
constexpr rlim_t spare_descriptors = 300;

void raise_limit(__rlimit_resource resource, rlim_t wanted) {
    rlimit limit{};
    check_errno(getrlimit(resource, &limit), "getrlimit");
    if (limit.rlim_cur >= wanted) {
        return;
    }
    const rlimit higher{wanted, std::max(limit.rlim_max, wanted)};
    if (setrlimit(resource, &higher) == 0) {
        return;
    }
    limit.rlim_cur = std::min(wanted, limit.rlim_max);
    check_errno(setrlimit(resource, &limit), "setrlimit");
}

// How many segments a process can have, which its limit on descriptors decides.
unsigned segments_per_process(unsigned wanted) {
    raise_limit(RLIMIT_NOFILE, wanted + spare_descriptors);
    rlimit limit{};
    check_errno(getrlimit(RLIMIT_NOFILE, &limit), "getrlimit");
    if (limit.rlim_cur <= spare_descriptors) {
        throw std::runtime_error("the limit on open files is too low");
    }
    return static_cast<unsigned>(std::min<rlim_t>(wanted, limit.rlim_cur - spare_descriptors));
}

void publish_many(Channel &channel, unsigned count) {
    raise_limit(RLIMIT_MEMLOCK, count * page_size() + MiB);
    const PrivateMemory memory(count * page_size());
    const Controller controller;
    std::vector<Export> segments;
    segments.reserve(count);
    for (unsigned at = 0; at < count; at++) {
        segments.emplace_back(controller, memory.data() + at * page_size(), page_size());
        segments.back().publish();
    }
    channel.send(true);
    channel.wait_closed();
}

// Processes that between them publish that many segments of one page each.
class Crowd {
  public:
    explicit Crowd(unsigned count) {
        const unsigned share = segments_per_process(count);
        for (unsigned left = count; left > 0;) {
            const unsigned now = std::min(left, share);
            peers_.emplace_back([now](Channel &channel) { publish_many(channel, now); });
            left -= now;
        }
        for (auto &peer : peers_) {
            peer.channel().expect<bool>();
        }
    }

  private:
    std::vector<Peer> peers_;
};

} // namespace

Times connect_crowd(const Settings &settings) {
    const Exporter target(connect_size);
    constexpr auto never = std::numeric_limits<double>::infinity();
    Times best{never, never};

    // The controller comes after the crowd: its publishers must not inherit it.
    const auto measure = [&](unsigned published, double &result) {
        const Crowd crowd(published);
        const Controller controller;
        const Batch batch = connect_batch(controller, target.id());
        const auto count = calibrate(settings, batch);
        for (unsigned round = 0; round < settings.rounds; round++) {
            result = std::min(result, time_batch(batch, count));
        }
    };
    measure(few_segments, best.floor_ns);
    measure(settings.segments, best.figure_ns);
    return best;
}

} // namespace rsmperf
