// SPDX-License-Identifier: MIT
#include "wire/command.h"

namespace rsmdat {
namespace {

constexpr const char *DEVICE_PATH = "/dev/rsm";

} // namespace

int status_of_errno(int error) noexcept {
    switch (error) {
    case ENOMEM:
        return RSMERR_INSUFFICIENT_MEM;
    case EAGAIN:
    case EMFILE:
    case ENFILE:
    case ENOSPC:
        return RSMERR_INSUFFICIENT_RESOURCES;
    case EFAULT:
        return RSMERR_BAD_ADDR;
    case EINTR:
        return RSMERR_INTERRUPTED;
    case EACCES:
    case EPERM:
        return RSMERR_PERM_DENIED;
    default:
        return RSMERR_INTERNAL_ERROR;
    }
}

int open_handle(int flags, HandleFd &handle) noexcept {
    const int error = HandleFd::open(DEVICE_PATH, flags, handle);
    if (error == 0)
        return RSM_SUCCESS;
    const bool absent = error == ENOENT || error == ENXIO || error == ENODEV;
    return absent ? RSMERR_CTLR_NOT_PRESENT : status_of_errno(error);
}

} // namespace rsmdat
