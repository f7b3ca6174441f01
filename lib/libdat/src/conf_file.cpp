// SPDX-License-Identifier: MIT
// Which dat.conf is read, and reading it.
#include <cerrno>
#include <cstring>

#include "conf.h"
#include "debug.h"
#include "support/regular_file.h"

namespace dat {
namespace {

// No configuration is as long; /dev/zero and the like are longer.
constexpr std::size_t longest_file = 16U << 20U;

void say_unreadable(const char *path, int error) noexcept {
    debug(Debug::error, {"can't read ", path, ": ", ::strerrordesc_np(error)});
}

bool is_absent(int error) noexcept {
    return error == ENOENT || error == ENOTDIR;
}

} // namespace

std::vector<ConfRecord> read_conf(const char *from_environment,
                                  std::span<const char *const> usual) {
    const std::span only(&from_environment, 1);
    for (const auto *path : from_environment != nullptr ? only : usual) {
        if (const auto text = rsm::read_regular_file(path, longest_file)) {
            debug(Debug::static_registry, {"reading ", path});
            return parse_conf(*text);
        }
        const int error = errno;
        if (path == from_environment || !is_absent(error)) {
            say_unreadable(path, error);
            break;
        }
    }
    return {};
}

} // namespace dat
