// SPDX-License-Identifier: MIT
#include "engine/event/feeders.h"

#include <algorithm>

namespace rsmengine {

std::vector<Feeders::Entry>::iterator Feeders::find(const Feeder &feeder) noexcept {
    return std::ranges::find(all_, &feeder, &Entry::feeder);
}

void Feeders::add(Feeder &feeder) {
    const auto entry = find(feeder);
    if (entry == all_.end())
        all_.push_back({&feeder, 1});
    else
        ++entry->times;
}

void Feeders::remove(Feeder &feeder) noexcept {
    const auto entry = find(feeder);
    if (entry == all_.end() || --entry->times > 0)
        return;
    gaps_ = true;
    if (!polling_)
        sweep();
}

void Feeders::sweep() noexcept {
    std::erase_if(all_, [](const Entry &entry) { return entry.times == 0; });
    gaps_ = false;
}

// By index: the vector may grow meanwhile.
void Feeders::poll(bool again) noexcept {
    polling_ = true;
    for (std::size_t i = 0; i < all_.size(); ++i) // NOLINT(modernize-loop-convert)
        if (all_[i].times > 0)
            all_[i].feeder->poll(again);
    polling_ = false;
    if (gaps_)
        sweep();
}

} // namespace rsmengine
