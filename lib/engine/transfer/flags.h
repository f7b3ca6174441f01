// SPDX-License-Identifier: MIT
// Flags of transfers.
#pragma once

#include <dat/udat.h>

namespace rsmdat {

inline bool has_flag(DAT_COMPLETION_FLAGS flags, DAT_COMPLETION_FLAGS flag) noexcept {
    return (static_cast<unsigned>(flags) & static_cast<unsigned>(flag)) != 0;
}

} // namespace rsmdat
