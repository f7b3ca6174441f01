// SPDX-License-Identifier: MIT
#include "device.h"

#include <unistd.h>

namespace rsm {

// The library takes high descriptors: programs that use select(), or that expect low numbers, keep
// the low ones. It never takes those of standard input, output and error. The program sets the
// limit of descriptors; a child inherits its parent's segments; a signal ends a call that waits.
constinit const rsmdev::Policy device_policy = {
    .segments = {.lowest = 256, .raises_limit = false, .closed_in_children = nullptr},
    .control = {.lowest = 3, .raises_limit = false, .closed_in_children = nullptr},
    // The status of a process that finds no kernel agent.
    .status_of_absence = RSMERR_INSUFFICIENT_RESOURCES,
    .repeats_interrupted = false,
    .children_inherit_mappings = true,
    .before_wait = nullptr,
};

std::size_t page_size() noexcept {
    return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

} // namespace rsm
