// SPDX-License-Identifier: MIT
// Files that an administrator writes, and a library reads into its program.
#pragma once

#include <array>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <memory>
#include <optional>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

namespace rsm {

struct FileCloser {
    // Nothing can be lost: the file was only read.
    void operator()(std::FILE *file) const noexcept { static_cast<void>(std::fclose(file)); }
};

using File = std::unique_ptr<std::FILE, FileCloser>;

// Opens a regular file for reading. Returns null and sets errno (EISDIR, EINVAL or what open() says)
// for anything else: a FIFO need not have a writer, a device need not end.
inline File open_regular_file(const char *path) noexcept {
    const int fd = ::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    File file(fd < 0 ? nullptr : ::fdopen(fd, "r"));
    if (fd >= 0 && !file)
        ::close(fd);
    struct stat kind{};
    if (!file || ::fstat(fd, &kind) != 0)
        return nullptr;
    if (S_ISREG(kind.st_mode))
        return file;
    file.reset();
    errno = S_ISDIR(kind.st_mode) ? EISDIR : EINVAL;
    return nullptr;
}

// Reads a regular file of at most @longest bytes. Returns nothing and sets errno, to EFBIG for a longer file.
inline std::optional<std::string> read_regular_file(const char *path, std::size_t longest) {
    const File file = open_regular_file(path);
    if (!file)
        return std::nullopt;
    std::string text;
    std::array<char, 16384> block; // NOLINT(*-member-init): read before it is looked at
    while (const auto got = std::fread(block.data(), 1, block.size(), file.get())) {
        text.append(block.data(), got);
        if (text.size() > longest) {
            errno = EFBIG;
            return std::nullopt;
        }
    }
    if (std::ferror(file.get()) != 0)
        return std::nullopt;
    return text;
}

} // namespace rsm
