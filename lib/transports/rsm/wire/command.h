// SPDX-License-Identifier: MIT
// Giving a handle of /dev/rsm a command.
#pragma once

#include "device/command.h"
#include "engine/loop/handle_fd.h"

namespace rsmdat {

using rsmdev::address_of;
using rsmdev::status_of_errno;
using rsmdev::store_name;

// A handle of /dev/rsm: RSM_SUCCESS or an RSMERR status.
int open_handle(int flags, HandleFd &handle) noexcept;

// One command: the kernel's status, or what errno means. A signal that arrives while the command
// waits does not end it.
using rsmdev::persistent_command;

} // namespace rsmdat
