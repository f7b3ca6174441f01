// SPDX-License-Identifier: MIT
#include "status.h"

#include <cerrno>

#include "api.h"

namespace rsm {

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

} // namespace rsm
