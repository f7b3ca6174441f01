// SPDX-License-Identifier: MIT
// The common part of export and import segments: a handle, and events.
#pragma once

#include "device/handle.h"
#include "handle_pool.h"

namespace rsm {

class Segment {
  public:
    // The handle lives as long as the segment.
    explicit Segment(const rsmdev::Handle &handle) noexcept : handle_(handle) {}

    [[nodiscard]] const rsmdev::Handle &handle() const noexcept { return handle_; }
    [[nodiscard]] int fd() const noexcept { return handle_.fd(); }

    // Waits for an event and consumes it; milliseconds as for poll(). RSM_SUCCESS,
    // RSMERR_TIMEOUT, RSMERR_INTERRUPTED or what went wrong.
    int consume_event(int timeout); // a cancellation point unless `timeout` is 0

    // References that get_pollfd handed out; guarded by locks.pollfds.
    unsigned pollfd_references = 0;

  private:
    const rsmdev::Handle &handle_;
};

// The segment behind a handle of either kind, nullptr if it is neither.
Segment *find_segment(const void *handle) noexcept;

// Whether get_pollfd has handed out references that are not released yet.
bool pollfd_in_use(const Segment &segment);

} // namespace rsm
