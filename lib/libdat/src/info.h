// SPDX-License-Identifier: MIT
// DAT_PROVIDER_INFO, as the API has a key.
#pragma once

#include <cstring>
#include <optional>

#include "api.h"
#include "key.h"

namespace dat {

// Looks at the bytes: as an enum, any other value would be undefined.
inline bool is_boolean(const DAT_BOOLEAN &value) noexcept {
    unsigned number = 0;
    static_assert(sizeof(number) == sizeof(value));
    std::memcpy(&number, &value, sizeof(number));
    return number <= DAT_TRUE;
}

// Nothing if the name does not end or the boolean is none.
std::optional<Key> key_of(const DAT_PROVIDER_INFO &info);

// The name fits: dat.conf and key_of() refuse longer names.
DAT_PROVIDER_INFO info_of(const Key &key) noexcept;

} // namespace dat
