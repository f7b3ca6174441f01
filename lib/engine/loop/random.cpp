// SPDX-License-Identifier: MIT
#include "engine/loop/random.h"

#include <cerrno>
#include <sys/random.h>
#include <sys/types.h>

namespace rsmengine {

bool fill_random(std::span<std::byte> bytes) noexcept {
    while (!bytes.empty()) {
        const ssize_t got = ::getrandom(bytes.data(), bytes.size(), 0);
        if (got < 0 && errno != EINTR)
            return false;
        if (got > 0)
            bytes = bytes.subspan(static_cast<std::size_t>(got));
    }
    return true;
}

} // namespace rsmengine
