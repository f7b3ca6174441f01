// SPDX-License-Identifier: MIT
// /dev/rsm: opening it and giving it commands.
#pragma once

#include "api.h"
#include "device/command.h"
#include "unique_fd.h"

namespace rsm {

using rsmdev::address_of;
using rsmdev::command;
using rsmdev::persistent_command;
using rsmdev::status_of_errno;
using rsmdev::store_name;

// Both return RSM_SUCCESS and the descriptor, or an error. Descriptors of
// segments are moved out of the way, to 256 or above, if there is room.
int open_control_device(UniqueFd &device) noexcept;
int open_segment_device(UniqueFd &device) noexcept;

} // namespace rsm
