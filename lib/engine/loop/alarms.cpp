// SPDX-License-Identifier: MIT
#include "engine/loop/alarms.h"

#include <utility>

namespace rsmengine {

std::uint64_t Alarms::add(Clock::time_point when, Work what) {
    const std::uint64_t number = ++last_;
    auto &place = places_[number];
    try {
        place = queue_.emplace(when, Entry{number, std::move(what)});
    } catch (...) {
        places_.erase(number);
        throw;
    }
    return number;
}

void Alarms::cancel(std::uint64_t alarm) noexcept {
    const auto place = places_.find(alarm);
    if (place == places_.end())
        return;
    queue_.erase(place->second);
    places_.erase(place);
}

std::optional<Alarms::Clock::time_point> Alarms::next() const noexcept {
    if (queue_.empty())
        return std::nullopt;
    return queue_.begin()->first;
}

Alarms::Work Alarms::take_due(Clock::time_point now) noexcept {
    const auto first = queue_.begin();
    if (first == queue_.end() || first->first > now)
        return {};
    Work what = std::move(first->second.what);
    places_.erase(first->second.number);
    queue_.erase(first);
    return what;
}

} // namespace rsmengine
