// SPDX-License-Identifier: MIT
// /dev/rsm: opening it and giving it commands.
#pragma once

#include <cerrno>
#include <cstring>
#include <linux/rsm.h>
#include <string_view>
#include <sys/ioctl.h>

#include "api.h"
#include "status.h"
#include "unique_fd.h"

namespace rsm {

// Both return RSM_SUCCESS and the descriptor, or an error. Descriptors of
// segments are moved out of the way, to 256 or above, if there is room.
int open_control_device(UniqueFd &device) noexcept;
int open_segment_device(UniqueFd &device) noexcept;

// One command. The result is that of the kernel, or what errno means.
template <class Argument>
int command(int device, unsigned long request, Argument &argument) noexcept {
    argument.size = sizeof(argument);
    if (::ioctl(device, request, &argument) == 0) [[likely]]
        return static_cast<int>(argument.status);
    return status_of_errno(errno);
}

// One that is tried again when a signal arrives while it waits for another.
template <class Argument>
int persistent_command(int device, unsigned long request, Argument &argument) noexcept {
    int status = RSMERR_INTERRUPTED;
    while (status == RSMERR_INTERRUPTED)
        status = command(device, request, argument);
    return status;
}

// Stores a controller name that is known to fit.
template <std::size_t size>
void store_name(char (&field)[size], std::string_view name) noexcept {
    static_assert(size == RSM_NAME_SIZE);
    std::memset(field, 0, size);
    std::memcpy(field, name.data(), name.size());
}

// Pointers travel to the kernel as 64-bit numbers.
inline std::uint64_t address_of(const volatile void *pointer) noexcept {
    return reinterpret_cast<std::uintptr_t>(pointer);
}

} // namespace rsm
