// SPDX-License-Identifier: GPL-2.0
// Does a connect get slower when the node has very many segments? Publishing them takes seconds, so
// floor and figure take turns by processes here, not by rounds.
#include <algorithm>
#include <vector>

#include <sys/resource.h>

#include "connection.hpp"
#include "rows.hpp"

namespace rsmperf {

namespace {

constexpr unsigned few_segments = 10;
// Descriptors of a publisher that are not segments.
constexpr rlim_t spare_descriptors = 300;

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
    Times times;

    // The controller comes after the crowd: its publishers must not inherit it.
    const auto measure = [&](unsigned published, Samples &result) {
        const Crowd crowd(published);
        const Controller controller;
        const auto round = batches(settings, connect_batch(controller, target.id()));
        for (unsigned at = 0; at < settings.rounds; at++) {
            round(result);
        }
    };
    measure(few_segments, times.floor);
    measure(settings.segments, times.figure);
    return times;
}

} // namespace rsmperf
