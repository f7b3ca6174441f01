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

int HandleFd::open(int flags, HandleFd &handle) noexcept {
    HandleFd opened(within_limit([&] { return ::open(DEVICE_PATH, flags | O_CLOEXEC); }));
    if (!opened)
        return status_of_open_error(errno);
    if (opened.get() < LOWEST_FD) {
        const int low = opened.get();
        HandleFd moved(within_limit([&] { return ::fcntl(low, F_DUPFD_CLOEXEC, LOWEST_FD); }));
        // Without room above it stays where it is.
        if (moved)
            opened = std::move(moved);
    }
    handle = std::move(opened);
    return RSM_SUCCESS;
}

} // namespace rsmdat
