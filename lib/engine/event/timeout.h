// SPDX-License-Identifier: MIT
// DAT_TIMEOUT is in microseconds from now on.
#pragma once

#include "engine/event/futex.h"

#include <dat/udat.h>

namespace rsmdat {

using Deadline = std::optional<Futex::Clock::time_point>; // none: for ever

inline Deadline deadline_of(DAT_TIMEOUT timeout) {
    if (timeout == DAT_TIMEOUT_INFINITE)
        return {};
    return Futex::Clock::now() + std::chrono::microseconds(timeout);
}

inline bool passed(const Deadline &deadline) {
    return deadline && Futex::Clock::now() >= *deadline;
}

} // namespace rsmdat
