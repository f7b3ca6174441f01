// SPDX-License-Identifier: MIT
// From a handle to its provider, which is all that stands between a program's
// mistake and a jump to nowhere.
#pragma once

#include <cstdint>

#include "api.h"
#include "known_page.h"
#include "registry.h"

namespace dat {

// NULL, the special values of an EVD, and values at which no object can begin are no handles.
inline bool is_handle(DAT_HANDLE handle) noexcept {
    const auto address = reinterpret_cast<std::uintptr_t>(handle);
    return address != 0 && address % 4 == 0;
}

// The first word of an object. Handles are only known to be aligned to four bytes. A program may pass
// the address of memory that it has freed since, which a sanitizer is not to take for this library's mistake.
__attribute__((no_sanitize("address", "thread"))) inline const DAT_PROVIDER *first_word(DAT_HANDLE handle) noexcept {
    struct [[gnu::packed, gnu::may_alias]] Word {
        const DAT_PROVIDER *provider;
    };
    return static_cast<const Word *>(handle)->provider;
}

// The provider of an object. NULL: no registered provider made the object, the object was freed and
// overwritten, or the address can't be read.
inline const DAT_PROVIDER *provider_of(DAT_HANDLE handle) noexcept {
    if (!is_handle(handle) || (!known_pages.contains(handle) && !is_readable(handle)))
        return nullptr;
    const DAT_PROVIDER *provider = first_word(handle);
    return known_provider(provider) ? provider : nullptr;
}

// The same for the usual case, in a few instructions: NULL does not mean that the handle is
// invalid.
inline const DAT_PROVIDER *first_provider_of(DAT_HANDLE handle) noexcept {
    if (!known_pages.contains(handle)) [[unlikely]]
        return nullptr;
    const DAT_PROVIDER *provider = first_word(handle);
    return known_providers.is_first(provider) ? provider : nullptr;
}

} // namespace dat
