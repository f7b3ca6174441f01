// SPDX-License-Identifier: MIT
// The common part of export and import segments: a descriptor, and events.
#pragma once

#include <atomic>
#include <cstdint>

#include "event_table.h"
#include "handle_pool.h"
#include "unique_fd.h"

namespace rsm {

class Segment {
  public:
    Segment(UniqueFd device, const EventTable *table, std::uint32_t slot) noexcept
        : table_(table), device_(std::move(device)), slot_(slot) {}

    [[nodiscard]] const UniqueFd &descriptor() const noexcept { return device_; }
    [[nodiscard]] int device() const noexcept { return device_.get(); }

    // Waits for an event and consumes it; milliseconds as for poll(). RSM_SUCCESS,
    // RSMERR_TIMEOUT, RSMERR_INTERRUPTED or what went wrong.
    int consume_event(int timeout); // a cancellation point unless `timeout` is 0

    // References that get_pollfd handed out; guarded by locks.pollfds.
    unsigned pollfd_references = 0;

  private:
    enum class Attempt { consumed, none_pending, not_possible };
    Attempt try_consume() noexcept;

    const EventTable *table_;
    UniqueFd device_;
    std::uint32_t slot_;
};

// The segment behind a handle of either kind, nullptr if it is neither.
Segment *find_segment(const void *handle) noexcept;

// Whether get_pollfd has handed out references that are not released yet.
bool pollfd_in_use(const Segment &segment);

} // namespace rsm
