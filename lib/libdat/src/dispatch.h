// SPDX-License-Identifier: MIT
// How a public function becomes a provider's: a check of the first handle, a look
// at the slot, a jump. Nothing else may be put here: the posts and
// dat_evd_dequeue() are among what it is for.
#pragma once

#include "gate.h"

namespace dat {

// Not noexcept, which would cost the jump: the compiler would have to keep this
// frame to catch what the provider, a C interface, never throws.
template <auto slot, DAT_RETURN_SUBTYPE bad_handle, class... Arguments>
[[gnu::always_inline]] inline DAT_RETURN dispatch(DAT_HANDLE handle, Arguments... arguments) {
    const DAT_PROVIDER *provider = provider_of(handle);
    if (provider == nullptr) [[unlikely]]
        return error(DAT_INVALID_HANDLE, bad_handle);
    const auto function = provider->*slot;
    if (function == nullptr) [[unlikely]]
        return error(DAT_NOT_IMPLEMENTED);
    return function(handle, arguments...);
}

} // namespace dat
