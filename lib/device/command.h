// SPDX-License-Identifier: MIT
// Commands to a handle of /dev/rsm, and the meaning of their results.
#pragma once

#include "device/policy.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <linux/rsm.h>
#include <span>
#include <string_view>
#include <sys/ioctl.h>

namespace rsmdev {

// The meaning of a failed system call on a handle, in RSMERR values. Never RSM_SUCCESS.
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

// The same for mmap() on a handle that the kernel does not map, for a client whose program has
// asked for no mapping.
inline int status_of_mapping_error(int error) noexcept {
    switch (error) {
    case ENODEV:
        return RSMERR_CONN_ABORTED;
    case ENOMEM:
    case EAGAIN:
        return RSMERR_INSUFFICIENT_RESOURCES;
    default:
        return RSMERR_MAP_FAILED;
    }
}

// One command. The result is that of the kernel, or what errno means.
template <class Argument>
int command(int handle, unsigned long request, Argument &argument) noexcept {
    argument.size = sizeof(argument);
    if (::ioctl(handle, request, &argument) == 0) [[likely]]
        return static_cast<int>(argument.status);
    return status_of_errno(errno);
}

// A command that is repeated when a signal interrupts it.
template <class Argument>
int persistent_command(int handle, unsigned long request, Argument &argument) noexcept {
    int status = RSMERR_INTERRUPTED;
    while (status == RSMERR_INTERRUPTED)
        status = command(handle, request, argument);
    return status;
}

// One command, by the policy of a client.
template <class Argument>
int command_by(const Policy &policy, int handle, unsigned long request,
               Argument &argument) noexcept {
    return policy.repeats_interrupted ? persistent_command(handle, request, argument)
                                      : command(handle, request, argument);
}

// Advances a transfer that a signal has interrupted behind the part that is done.
inline void advance(std::span<rsm_transfer_entry> entries, rsm_transfer &request,
                    std::uint32_t &first) noexcept {
    first += request.count - std::min(request.residual, request.count);
    if (first >= entries.size())
        return;
    rsm_transfer_entry &entry = entries[first];
    const std::uint64_t done = std::min<std::uint64_t>(request.done, entry.length);
    entry.local_offset += done;
    entry.remote_offset += done;
    entry.length -= done;
}

// All entries of a PUTV or GETV, which signals delay but do not end. The entries change. The
// residual of the request counts the rest.
inline int transfer(int handle, unsigned long command_number, std::span<rsm_transfer_entry> entries,
                    rsm_transfer &request) noexcept {
    std::uint32_t first = 0;
    int status = RSMERR_INTERRUPTED;
    while (status == RSMERR_INTERRUPTED) {
        request.count = static_cast<std::uint32_t>(entries.size()) - first;
        request.residual = request.count;
        request.done = 0;
        request.entries = reinterpret_cast<std::uintptr_t>(entries.data() + first);
        status = command(handle, command_number, request);
        if (status == RSMERR_INTERRUPTED)
            advance(entries, request, first);
    }
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
