// SPDX-License-Identifier: MIT
#include "device.h"

#include <fcntl.h>

namespace rsm {
namespace {

constexpr const char *device_path = "/dev/rsm";

// Programs that use select() or count on low numbers keep those; standard input,
// output and error are never taken.
constexpr int lowest_segment_fd = 256;
constexpr int lowest_control_fd = 3;

// Stays where it is if the limit on descriptors leaves no room above.
void move_up(UniqueFd &device, int lowest) noexcept {
    if (device.get() >= lowest)
        return;
    UniqueFd moved(::fcntl(device.get(), F_DUPFD_CLOEXEC, lowest));
    if (moved)
        device = std::move(moved);
}

int open_device(int access, int lowest, UniqueFd &device) noexcept {
    UniqueFd opened(::open(device_path, access | O_CLOEXEC));
    if (!opened) {
        // Without the kernel agent there is no resource to be had.
        return rsmdev::is_absence(errno) ? RSMERR_INSUFFICIENT_RESOURCES : status_of_errno(errno);
    }
    move_up(opened, lowest);
    device = std::move(opened);
    return RSM_SUCCESS;
}

} // namespace

int open_control_device(UniqueFd &device) noexcept {
    return open_device(O_RDONLY, lowest_control_fd, device);
}

int open_segment_device(UniqueFd &device) noexcept {
    return open_device(O_RDWR, lowest_segment_fd, device);
}

} // namespace rsm
