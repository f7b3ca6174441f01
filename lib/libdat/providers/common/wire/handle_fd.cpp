// SPDX-License-Identifier: MIT
#include "wire/handle_fd.h"

#include "device/uncancelled.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace rsmdat {
namespace {

constexpr int LOWEST_FD = 1024; // FD_SETSIZE

// A connection takes two descriptors, and the usual soft limit is for programs that use select().
bool raise_limit() noexcept {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= limit.rlim_max)
        return false;
    limit.rlim_cur = limit.rlim_max;
    return ::setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

// Both system calls that make a descriptor say so when the limit is in the way.
template <class Call>
int within_limit(Call &&call) noexcept {
    int fd = call();
    if (fd < 0 && (errno == EMFILE || errno == EINVAL) && raise_limit())
        fd = call();
    return fd;
}

} // namespace

HandleFd &HandleFd::operator=(HandleFd &&other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
}

HandleFd::~HandleFd() {
    if (fd_ < 0)
        return;
    const rsmdev::Uncancelled uncancelled;
    ::close(fd_);
}

// Without room above it stays where it is.
HandleFd HandleFd::keep(int fd) noexcept {
    const rsmdev::Uncancelled uncancelled;
    HandleFd kept(fd);
    if (fd < 0 || fd >= LOWEST_FD)
        return kept;
    HandleFd moved(within_limit([&] { return ::fcntl(fd, F_DUPFD_CLOEXEC, LOWEST_FD); }));
    return moved ? std::move(moved) : std::move(kept);
}

void keep_room_above(int fd) noexcept {
    constexpr rlim_t ROOM = 64;
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) == 0 && static_cast<rlim_t>(fd) + ROOM >= limit.rlim_cur)
        (void)raise_limit();
}

int HandleFd::open(const char *path, int flags, HandleFd &handle) noexcept {
    const rsmdev::Uncancelled uncancelled;
    const int fd = within_limit([&] { return ::open(path, flags | O_CLOEXEC); });
    if (fd < 0)
        return errno;
    handle = keep(fd);
    return 0;
}

} // namespace rsmdat
