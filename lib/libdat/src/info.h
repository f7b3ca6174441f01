// SPDX-License-Identifier: MIT
// DAT_PROVIDER_INFO, as the API has a key.
#pragma once

#include <optional>

#include "api.h"
#include "key.h"

namespace dat {

constexpr bool is_boolean(DAT_BOOLEAN value) noexcept {
    return value == DAT_FALSE || value == DAT_TRUE;
}

// Nothing if the name does not end or the boolean is none.
std::optional<Key> key_of(const DAT_PROVIDER_INFO &info);

// The name fits: dat.conf and key_of() let no longer one in.
DAT_PROVIDER_INFO info_of(const Key &key) noexcept;

} // namespace dat
