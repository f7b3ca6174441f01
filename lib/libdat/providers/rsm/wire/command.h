// SPDX-License-Identifier: MIT
// Giving a handle of /dev/rsm a command.
#pragma once

#include "wire/handle_fd.h"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <linux/rsm.h>
#include <string_view>
#include <sys/ioctl.h>

namespace rsmdat {

// What a failed system call on a handle means, in RSMERR values.
int status_of_errno(int error) noexcept;

// A handle of /dev/rsm: RSM_SUCCESS or an RSMERR status.
int open_handle(int flags, HandleFd &handle) noexcept;

// One command: the kernel's status, or what errno means. A signal that arrives while the command
// waits does not end it.
template <class Argument>
int command(int handle, unsigned long request, Argument &argument) noexcept {
    int status = RSMERR_INTERRUPTED;
    while (status == RSMERR_INTERRUPTED) {
        argument.size = sizeof(argument);
        argument.status = RSM_SUCCESS;
        const bool understood = ::ioctl(handle, request, &argument) == 0;
        status = understood ? static_cast<int>(argument.status) : status_of_errno(errno);
    }
    return status;
}

// False if no controller can have such a name.
inline bool store_name(char (&field)[RSM_NAME_SIZE], std::string_view name) noexcept {
    if (name.empty() || name.size() >= sizeof(field))
        return false;
    std::memset(field, 0, sizeof(field));
    std::memcpy(field, name.data(), name.size());
    return true;
}

// Pointers travel to the kernel as 64-bit numbers.
inline std::uint64_t address_of(const void *pointer) noexcept {
    return reinterpret_cast<std::uintptr_t>(pointer);
}

} // namespace rsmdat
