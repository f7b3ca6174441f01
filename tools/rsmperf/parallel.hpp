// SPDX-License-Identifier: GPL-2.0
// Several threads that do the same at once.
#pragma once

#include <memory>
#include <thread>
#include <vector>

#include "measure.hpp"
#include "peer.hpp"

namespace rsmperf {

// One worker of each thread, made in this thread. A worker has a function run(count).
template <typename Worker>
class Parallel {
  public:
    template <typename... Arguments>
    explicit Parallel(std::size_t threads, Arguments &...arguments) {
        for (std::size_t at = 0; at < threads; at++) {
            workers_.push_back(std::make_unique<Worker>(arguments...));
        }
    }

    // One alone runs in this thread. A batch of more of them lasts as long as the slowest.
    [[nodiscard]] Batch batch() {
        if (workers_.size() == 1) {
            return [this](std::size_t count) { workers_.front()->run(count); };
        }
        return [this](std::size_t count) { run_all(count); };
    }

  private:
    // The processors that measurements use, in turns.
    void run_all(std::size_t count) {
        std::vector<std::jthread> threads;
        for (std::size_t at = 0; at < workers_.size(); at++) {
            threads.emplace_back([this, at, count] {
                run_on(at % 2 == 0 ? Place::measuring : Place::peer);
                workers_[at]->run(count);
            });
        }
    }

    std::vector<std::unique_ptr<Worker>> workers_;
};

// Both sides by as many threads as the point has. Threads start and end with each batch, so samples
// of a few operations would be their start: with more than one, a batch is the sample.
template <typename Figure, typename Floor>
Times compare_parallel(const Settings &settings, Figure &figure, Floor &floor) {
    if (settings.point.threads < 2) {
        return compare(settings, figure.batch(), floor.batch());
    }
    const auto whole = [&settings](const Batch &batch) {
        return single(
            [batch, count = calibrate(settings, batch)] { return time_batch(batch, count); });
    };
    const auto floors = whole(floor.batch());
    return in_turns(settings, whole(figure.batch()), floors);
}

} // namespace rsmperf
