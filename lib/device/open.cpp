// SPDX-License-Identifier: MIT
#include "device/open.h"

#include "device/command.h"

#include <fcntl.h>

namespace rsmdev {
namespace {

constexpr const char *device_path = "/dev/rsm";

// The error says that there is no kernel agent.
bool is_absence(int error) noexcept {
    return error == ENOENT || error == ENXIO || error == ENODEV;
}

} // namespace

int open_device(HandleKind kind, const Policy &policy, Descriptor &result) noexcept {
    const bool control = kind == HandleKind::control;
    const int error = Descriptor::open(device_path, control ? O_RDONLY : O_RDWR,
                                       control ? policy.control : policy.segments, result);
    if (error == 0)
        return RSM_SUCCESS;
    return is_absence(error) ? policy.status_of_absence : status_of_errno(error);
}

} // namespace rsmdev
