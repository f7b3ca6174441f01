// SPDX-License-Identifier: MIT
// The regions of the peer, on the same node, that this side reaches directly: it has asked the peer
// for each. The cache keeps the ones used last.
#pragma once

#include "engine/core/types.h"
#include "memory/contexts.h"

#include <array>
#include <memory>
#include <utility>

namespace rsmengine {

class RemoteRegionCache {
  public:
    RemoteRegionCache() = default;
    ~RemoteRegionCache() = default;
    RemoteRegionCache(const RemoteRegionCache &) = delete;
    RemoteRegionCache &operator=(const RemoteRegionCache &) = delete;

    struct Entry {
        RemoteKey context = 0;
        bool answered = false;
        std::uint64_t used = 0;
        // Null: the peer refused direct access; its answer to a request in the ring counts.
        std::unique_ptr<RemoteRegion> region;
        RemoteRegion::Window window; // of the region
    };

    // The peer's answer for a context; null if it was not asked.
    [[nodiscard]] Entry *find(RemoteKey context) noexcept;
    // The one that was looked for last, if it is this one.
    [[nodiscard]] const Entry *last(RemoteKey context) const noexcept {
        return last_->answered && last_->context == context ? last_ : nullptr;
    }
    // Takes the place of the one that was not used for the longest time, whose region is returned.
    [[nodiscard]] std::unique_ptr<RemoteRegion>
    insert(RemoteKey context, std::unique_ptr<RemoteRegion> region) noexcept;
    [[nodiscard]] std::unique_ptr<RemoteRegion> forget(Entry &entry) noexcept {
        return std::exchange(entry, {}).region;
    }
    // `drop` gets the regions.
    template <class Drop>
    void clear(Drop drop) noexcept {
        for (Entry &entry : entries_)
            drop(forget(entry));
    }

  private:
    std::array<Entry, 16> entries_;
    Entry *last_ = entries_.data(); // a pointer: an index costs a small write a multiplication
    std::uint64_t clock_ = 0;
};

} // namespace rsmengine
