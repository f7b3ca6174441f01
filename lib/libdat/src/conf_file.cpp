// SPDX-License-Identifier: MIT
// Which dat.conf is read, and reading it.
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>

#include "conf.h"
#include "debug.h"

namespace dat {
namespace {

// No configuration is as long; /dev/zero and the like are longer.
constexpr std::size_t longest_file = 16U << 20U;

struct Close {
    void operator()(std::FILE *file) const noexcept { static_cast<void>(std::fclose(file)); }
};

using File = std::unique_ptr<std::FILE, Close>;

// A regular file, or null and errno: nothing else is sure to end, or to be there at all.
File open_file(const char *path) {
    const int fd = ::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    File file(fd < 0 ? nullptr : ::fdopen(fd, "r"));
    if (fd >= 0 && !file)
        ::close(fd);
    struct stat kind{};
    if (!file || ::fstat(fd, &kind) != 0)
        return nullptr;
    if (S_ISREG(kind.st_mode))
        return file;
    errno = S_ISDIR(kind.st_mode) ? EISDIR : EINVAL;
    return nullptr;
}

// The file's text, or nothing and errno.
std::optional<std::string> read_file(const char *path) {
    const File file = open_file(path);
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
