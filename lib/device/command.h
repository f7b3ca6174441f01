// SPDX-License-Identifier: MIT
// Commands to a handle of /dev/rsm, for librsm and for libdat's provider rsm.
#pragma once

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <linux/rsm.h>
#include <string_view>
#include <sys/ioctl.h>

namespace rsmdev {

// What a failed system call on a handle means, in RSMERR values. Never RSM_SUCCESS.
inline int status_of_errno(int error) noexcept {
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

// Why /dev/rsm could not be opened: the kernel agent is not there.
inline bool is_absence(int error) noexcept {
    return error == ENOENT || error == ENXIO || error == ENODEV;
}

// One command. The result is that of the kernel, or what errno means.
template <class Argument>
int command(int handle, unsigned long request, Argument &argument) noexcept {
    argument.size = sizeof(argument);
    if (::ioctl(handle, request, &argument) == 0) [[likely]]
        return static_cast<int>(argument.status);
    return status_of_errno(errno);
}

// One that is tried again when a signal arrives while it waits for another.
template <class Argument>
int persistent_command(int handle, unsigned long request, Argument &argument) noexcept {
    int status = RSMERR_INTERRUPTED;
    while (status == RSMERR_INTERRUPTED)
        status = command(handle, request, argument);
    return status;
}

// Stores a controller's name; false if no controller can have such a name.
inline bool store_name(char (&field)[RSM_NAME_SIZE], std::string_view name) noexcept {
    if (name.empty() || name.size() >= sizeof(field))
        return false;
    std::memset(field, 0, sizeof(field));
    std::memcpy(field, name.data(), name.size());
    return true;
}

// Pointers travel to the kernel as 64-bit numbers.
inline std::uint64_t address_of(const volatile void *pointer) noexcept {
    return reinterpret_cast<std::uintptr_t>(pointer);
}

} // namespace rsmdev
