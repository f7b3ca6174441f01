// SPDX-License-Identifier: GPL-2.0
#include "net/peer/hammer.hpp"

#include <chrono>
#include <utility>

namespace rsmtest::net {

Hammer::Hammer(std::function<int()> step) : step_(std::move(step)), thread_([this] { run(); }) {}

void Hammer::stop() {
    stop_ = true;
    if (thread_.joinable())
        thread_.join();
}

void Hammer::run() {
    while (!stop_) {
        const int status = step_();
        if (status == 0) {
            successes_++;
            continue;
        }
        failures_++;
        int none = 0;
        first_error_.compare_exchange_strong(none, status);
        last_error_ = status;
        // A call that fails once mostly goes on failing: leave the processor to others.
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

} // namespace rsmtest::net
