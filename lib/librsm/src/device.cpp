// SPDX-License-Identifier: MIT
#include "device.h"

#include <unistd.h>

namespace rsm {

// Programs that use select() or count on low numbers keep those; standard input, output and error
// are never taken. A program sees descriptors and limits: it decides about the limit, a child
// inherits its parent's segments, and a signal ends a call that waits.
constinit const rsmdev::Policy device_policy = {
    .segments = {.lowest = 256, .raises_limit = false, .closed_in_children = nullptr},
    .control = {.lowest = 3, .raises_limit = false, .closed_in_children = nullptr},
    // Without the kernel agent there is no resource to be had.
    .status_of_absence = RSMERR_INSUFFICIENT_RESOURCES,
    .repeats_interrupted = false,
    .children_inherit_mappings = true,
    .before_wait = nullptr,
};

std::size_t page_size() noexcept {
    return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

} // namespace rsm
