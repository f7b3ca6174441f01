// SPDX-License-Identifier: MIT
// From the time that is left to a point in time.
#pragma once

#include "engine/event/futex.h"

#include "engine/core/types.h"

namespace rsmengine {

using Deadline = std::optional<Futex::Clock::time_point>; // none: for ever

inline Deadline deadline_of(const Timeout &timeout) {
    if (!timeout)
        return {};
    return Futex::Clock::now() + *timeout;
}

inline bool passed(const Deadline &deadline) {
    return deadline && Futex::Clock::now() >= *deadline;
}

// True if the time is zero: the caller looks for an event and does not wait.
inline bool is_over(const Timeout &timeout) {
    return timeout == std::chrono::microseconds{0};
}

} // namespace rsmengine
