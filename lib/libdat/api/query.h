// SPDX-License-Identifier: MIT
// Common checks of the arguments of all dat_*_query functions.
#pragma once

#include "libdat/api/error.h"

#include <cstdint>

namespace rsmdat {

// DAT_SUCCESS, or the error of a mask (argument 2) with unknown bits or of no place for the answer.
inline DAT_RETURN check_query(std::uint64_t mask, std::uint64_t all, const void *param) noexcept {
    if ((mask & ~all) != 0)
        return invalid_parameter(2);
    return param ? DAT_RETURN{DAT_SUCCESS} : invalid_parameter(3);
}

} // namespace rsmdat
