// SPDX-License-Identifier: MIT
#include "wire/command.h"

namespace rsmdat {
namespace {

constexpr const char *DEVICE_PATH = "/dev/rsm";

} // namespace

int open_handle(int flags, HandleFd &handle) noexcept {
    const int error = HandleFd::open(DEVICE_PATH, flags, handle);
    if (error == 0)
        return RSM_SUCCESS;
    return rsmdev::is_absence(error) ? RSMERR_CTLR_NOT_PRESENT : status_of_errno(error);
}

} // namespace rsmdat
