// SPDX-License-Identifier: MIT
// What a failed system call means to a caller of RSMAPI.
#pragma once

namespace rsm {

// Never returns RSM_SUCCESS.
int status_of_errno(int error) noexcept;

} // namespace rsm
