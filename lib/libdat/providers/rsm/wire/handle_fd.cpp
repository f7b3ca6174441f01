// SPDX-License-Identifier: MIT
#include "wire/command.h"
#include "wire/device.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace rsmdat {
namespace {

constexpr const char *DEVICE_PATH = "/dev/rsm";
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

int status_of_open_error(int error) noexcept {
    const bool absent = error == ENOENT || error == ENXIO || error == ENODEV;
    return absent ? RSMERR_CTLR_NOT_PRESENT : status_of_errno(error);
}

} // namespace

int status_of_errno(int error) noexcept {
    switch (error) {
    case ENOMEM:
        return RSMERR_INSUFFICIENT_MEM;
    case EAGAIN:
    case EMFILE:
    case ENFILE:
    case ENOSPC:
        return RSMERR_INSUFFICIENT_RESOURCES;
    case EFAULT:
        return RSMERR_BAD_ADDR;
    case EINTR:
        return RSMERR_INTERRUPTED;
    case EACCES:
    case EPERM:
        return RSMERR_PERM_DENIED;
    default:
        return RSMERR_INTERNAL_ERROR;
    }
}

HandleFd &HandleFd::operator=(HandleFd &&other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
}

HandleFd::~HandleFd() {
    if (fd_ >= 0)
        ::close(fd_);
}

// Without room above it stays where it is.
HandleFd HandleFd::keep(int fd) noexcept {
    HandleFd kept(fd);
    if (fd < 0 || fd >= LOWEST_FD)
        return kept;
    HandleFd moved(within_limit([&] { return ::fcntl(fd, F_DUPFD_CLOEXEC, LOWEST_FD); }));
    return moved ? std::move(moved) : std::move(kept);
}

int HandleFd::open(int flags, HandleFd &handle) noexcept {
    const int fd = within_limit([&] { return ::open(DEVICE_PATH, flags | O_CLOEXEC); });
    if (fd < 0)
        return status_of_open_error(errno);
    handle = keep(fd);
    return RSM_SUCCESS;
}

} // namespace rsmdat
