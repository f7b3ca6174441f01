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

#include <new>

namespace rsm {

// Runs the body of a public function; no exception leaves it.
template <class Body>
int guarded(const Body &body) noexcept {
    try {
        return body();
    } catch (const std::bad_alloc &) {
        return RSMERR_INSUFFICIENT_MEM;
    } catch (...) {
        return RSMERR_INTERNAL_ERROR;
    }
}

} // namespace rsm
