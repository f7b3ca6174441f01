// SPDX-License-Identifier: MIT
// DAT_RETURN values: class, type and subtype in one word.
#pragma once

#include <dat/udat.h>

#include <exception>
#include <new>

namespace rsmdat {

constexpr DAT_RETURN failure(DAT_RETURN_TYPE type,
                             DAT_RETURN_SUBTYPE subtype = DAT_NO_SUBTYPE) noexcept {
    return static_cast<DAT_RETURN>(DAT_CLASS_ERROR) | static_cast<DAT_RETURN>(type) |
           static_cast<DAT_RETURN>(subtype);
}

constexpr DAT_RETURN invalid_handle(DAT_RETURN_SUBTYPE subtype) noexcept {
    return failure(DAT_INVALID_HANDLE, subtype);
}

// Position of the argument, from 1 to 10.
constexpr DAT_RETURN invalid_parameter(int position) noexcept {
    return failure(DAT_INVALID_PARAMETER,
                   static_cast<DAT_RETURN_SUBTYPE>(DAT_INVALID_ARG1 + position - 1));
}

constexpr DAT_RETURN invalid_state(DAT_RETURN_SUBTYPE subtype = DAT_NO_SUBTYPE) noexcept {
    return failure(DAT_INVALID_STATE, subtype);
}

constexpr DAT_RETURN no_resource(DAT_RETURN_SUBTYPE subtype) noexcept {
    return failure(DAT_INSUFFICIENT_RESOURCES, subtype);
}

// Runs the body of an API function: nothing is thrown across the C ABI.
template <class Body>
DAT_RETURN guarded(Body &&body) noexcept {
    try {
        return body();
    } catch (const std::bad_alloc &) {
        return no_resource(DAT_RESOURCE_MEMORY);
    } catch (const std::exception &) {
        return failure(DAT_INTERNAL_ERROR);
    }
}

} // namespace rsmdat
