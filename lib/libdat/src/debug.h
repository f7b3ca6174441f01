// SPDX-License-Identifier: MIT
// Messages of the library to whoever looks for the reason of an error. The
// environment says which (DAT_DBG_TYPE) and where to (DAT_DBG_DEST).
#pragma once

#include <initializer_list>
#include <string_view>

namespace dat {

// The bits of DAT_DBG_TYPE.
enum class Debug : unsigned {
    error = 0x01, // always on
    generic = 0x02,
    static_registry = 0x04,
    dynamic_registry = 0x08,
    provider_api = 0x10,
    consumer_api = 0x20,
};

struct DebugSettings {
    unsigned classes;
    bool to_stderr;
    bool to_syslog;
};

// The values of the two variables; nullptr for one that is not set.
DebugSettings parse_debug_settings(const char *type, const char *destination) noexcept;

// Writes one line, put together from the parts, if the class is on. errno stays.
void debug(Debug kind, std::initializer_list<std::string_view> parts) noexcept;

} // namespace dat
