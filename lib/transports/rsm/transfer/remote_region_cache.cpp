// SPDX-License-Identifier: MIT
#include "transfer/remote_region_cache.h"

#include <algorithm>

namespace rsmengine {

RemoteRegionCache::Entry *RemoteRegionCache::find(RemoteKey context) noexcept {
    const auto fits = [&](const Entry &entry) {
        return entry.answered && entry.context == context;
    };
    if (!fits(*last_)) {
        auto *const found = std::ranges::find_if(entries_, fits);
        if (found == entries_.end())
            return nullptr;
        last_ = &*found;
    }
    last_->used = ++clock_;
    return last_;
}

std::unique_ptr<RemoteRegion>
RemoteRegionCache::insert(RemoteKey context, std::unique_ptr<RemoteRegion> region) noexcept {
    Entry &oldest = *std::ranges::min_element(entries_, {}, &Entry::used);
    const auto window = region ? region->window() : RemoteRegion::Window{};
    Entry fresh{.context = context,
                .answered = true,
                .used = ++clock_,
                .region = std::move(region),
                .window = window};
    return std::exchange(oldest, std::move(fresh)).region;
}

} // namespace rsmengine
