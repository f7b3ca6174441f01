// SPDX-License-Identifier: MIT
#include "info.h"

#include <algorithm>
#include <cstring>

namespace dat {

std::optional<Key> key_of(const DAT_PROVIDER_INFO &info) {
    const auto length = ::strnlen(info.ia_name, sizeof(info.ia_name));
    if (length == sizeof(info.ia_name) || !is_boolean(info.is_thread_safe))
        return std::nullopt;
    return Key{std::string(info.ia_name, length), info.dapl_version_major, info.dapl_version_minor,
               info.is_thread_safe == DAT_TRUE};
}

DAT_PROVIDER_INFO info_of(const Key &key) noexcept {
    DAT_PROVIDER_INFO info{};
    std::copy_n(key.name.data(), std::min(key.name.size(), sizeof(info.ia_name) - 1), info.ia_name);
    info.dapl_version_major = key.version_major;
    info.dapl_version_minor = key.version_minor;
    info.is_thread_safe = key.thread_safe ? DAT_TRUE : DAT_FALSE;
    return info;
}

} // namespace dat
