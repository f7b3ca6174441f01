// SPDX-License-Identifier: MIT
// The IA names that libdat has asked this provider to serve. Each has a table of its own, with an
// ia_open of its own: the name alone would not tell a thread-safe entry from one that is not.
#pragma once

#include <dat/udat.h>

#include <dat/dat_registry.h>

#include <optional>
#include <string>

namespace rsmdat {

struct Record {
    DAT_PROVIDER table{};
    DAT_PROVIDER_INFO
    info{}; // as registered; table.device_name points to its ia_name, table.extension to this
    std::optional<std::string> options; // of the transport; none: those of dat.conf are malformed
    bool used = false;
};

} // namespace rsmdat
