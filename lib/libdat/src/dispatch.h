// SPDX-License-Identifier: MIT
// How a public function becomes a provider's: a check of the first handle, a look
// at the slot, a jump. Nothing else may be put here: the posts and
// dat_evd_dequeue() are among what it is for.
//
// None of this is noexcept, which would cost the jump: the compiler would have to
// keep a frame to catch what the provider, a C interface, never throws.
#pragma once

#include "gate.h"

namespace dat {

// Handles every provider and every invalid handle. It is a function of its own, so that the usual
// case saves no registers for the search.
template <auto slot, DAT_RETURN_SUBTYPE bad_handle, class... Arguments>
[[gnu::noinline, gnu::cold]] DAT_RETURN dispatch_any(DAT_HANDLE handle, Arguments... arguments) {
    const DAT_PROVIDER *provider = provider_of(handle);
    if (provider == nullptr)
        return error(DAT_INVALID_HANDLE, bad_handle);
    const auto function = provider->*slot;
    if (function == nullptr)
        return error(DAT_NOT_IMPLEMENTED);
    const DAT_RETURN result = function(handle, arguments...);
    // Memory that only looks like an object is the program's, which may unmap it.
    if (DAT_GET_TYPE(result) != DAT_INVALID_HANDLE)
        known_pages.add(handle);
    return result;
}

template <auto slot, DAT_RETURN_SUBTYPE bad_handle, class... Arguments>
[[gnu::always_inline]] inline DAT_RETURN dispatch(DAT_HANDLE handle, Arguments... arguments) {
    if (const DAT_PROVIDER *provider = first_provider_of(handle)) [[likely]]
        if (const auto function = provider->*slot) [[likely]]
            return function(handle, arguments...);
    return dispatch_any<slot, bad_handle>(handle, arguments...);
}

} // namespace dat
