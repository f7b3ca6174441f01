// SPDX-License-Identifier: MIT
// The public interface, as the library itself sees it: exported although
// everything else is hidden. Include this instead of <rsmapi.h>.
#pragma once

// NOLINTBEGIN: these must come before the pragma, so that only <rsmapi.h> is
// affected by it.
#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/param.h>
#include <sys/types.h>
// NOLINTEND

#pragma GCC visibility push(default)
#include <rsmapi.h>
#pragma GCC visibility pop

#include <cxxabi.h>
#include <new>

#include "device/uncancelled.h"

namespace rsm {

// Runs the body of a public function; no exception leaves it, and no cancellation of the thread
// takes place in it.
template <class Body>
int guarded(const Body &body) noexcept {
    const rsmdev::Uncancelled uncancelled;
    try {
        return body();
    } catch (const std::bad_alloc &) {
        return RSMERR_INSUFFICIENT_MEM;
    } catch (...) {
        return RSMERR_INTERNAL_ERROR;
    }
}

// The same for a function that waits for others, which is a cancellation point. The exception of a
// cancellation is no C++ object: where it is caught, UBSan sees a reference to nothing.
template <class Body>
__attribute__((no_sanitize("null"))) int guarded_wait(const Body &body) {
    try {
        return body();
    } catch (const abi::__forced_unwind &) {
        throw;
    } catch (const std::bad_alloc &) {
        return RSMERR_INSUFFICIENT_MEM;
    } catch (...) {
        return RSMERR_INTERNAL_ERROR;
    }
}

} // namespace rsm
