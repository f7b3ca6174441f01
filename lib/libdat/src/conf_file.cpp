// SPDX-License-Identifier: MIT
// Which dat.conf is read, and reading it.
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>

#include "conf.h"
#include "debug.h"

namespace dat {
namespace {

// No configuration is as long; /dev/zero and the like are longer.
constexpr std::size_t longest_file = 16U << 20U;

struct Close {
    void operator()(std::FILE *file) const noexcept { static_cast<void>(std::fclose(file)); }
};

// The file's text, or nothing and errno.
std::optional<std::string> read_file(const char *path) {
    const std::unique_ptr<std::FILE, Close> file(std::fopen(path, "re"));
    if (!file)
        return std::nullopt;
    std::string text;
    std::array<char, 16384> block; // NOLINT(*-member-init): read before it is looked at
    while (const auto got = std::fread(block.data(), 1, block.size(), file.get())) {
        text.append(block.data(), got);
        if (text.size() > longest_file) {
            errno = EFBIG;
            return std::nullopt;
        }
    }
    if (std::ferror(file.get()) != 0)
        return std::nullopt;
    return text;
}

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
        if (const auto text = read_file(path)) {
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
