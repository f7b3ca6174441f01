// SPDX-License-Identifier: MIT
// The public interface, as the library itself sees it: exported although
// everything else is hidden. Include this instead of <dat/udat.h>.
#pragma once

// NOLINTBEGIN: these must come before the pragma, so that only the headers of
// DAT are affected by it.
#include <netinet/in.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>
// NOLINTEND

#pragma GCC visibility push(default)
#include <dat/udat.h>
// After <dat/udat.h>, which it asks for.
#include <dat/dat_registry.h>
#pragma GCC visibility pop

#include <new>

#include "device/uncancelled.h"

namespace dat {

// The value of a failure, class bit and all.
constexpr DAT_RETURN error(DAT_RETURN_TYPE type,
                           DAT_RETURN_SUBTYPE subtype = DAT_NO_SUBTYPE) noexcept {
    return DAT_CLASS_ERROR | static_cast<DAT_RETURN>(type) | static_cast<DAT_RETURN>(subtype);
}

// Runs the body of a public function; no exception leaves it.
template <class Body>
DAT_RETURN guarded(const Body &body) noexcept {
    const rsmdev::Uncancelled uncancelled;
    try {
        return body();
    } catch (const std::bad_alloc &) {
        return error(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY);
    } catch (...) {
        return error(DAT_INTERNAL_ERROR);
    }
}

} // namespace dat
