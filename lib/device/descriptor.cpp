// SPDX-License-Identifier: MIT
#include "device/descriptor.h"

#include "device/closed_in_children.h"
#include "device/uncancelled.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace rsmdev {
namespace {

// The two system calls that make a descriptor fail with EMFILE or EINVAL when the soft limit is
// reached.
template <class Call>
int within_limit(const DescriptorPolicy &policy, Call &&call) noexcept {
    int fd = call();
    if (fd < 0 && policy.raises_limit && (errno == EMFILE || errno == EINVAL) &&
        raise_descriptor_limit())
        fd = call();
    return fd;
}

} // namespace

bool raise_descriptor_limit() noexcept {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= limit.rlim_max)
        return false;
    limit.rlim_cur = limit.rlim_max;
    return ::setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

Descriptor::Descriptor(int fd, ClosedInChildren *set) noexcept : fd_(fd), set_(set) {
    if (fd >= 0 && set != nullptr)
        set->add(fd);
}

Descriptor::~Descriptor() {
    if (fd_ < 0)
        return;
    const Uncancelled uncancelled;
    if (set_ != nullptr)
        set_->remove(fd_);
    ::close(fd_);
}

Descriptor Descriptor::keep(int fd, const DescriptorPolicy &policy) noexcept {
    const Uncancelled uncancelled;
    Descriptor kept(fd, policy.closed_in_children);
    if (fd < 0 || fd >= policy.lowest)
        return kept;
    Descriptor moved(
        within_limit(policy, [&] { return ::fcntl(fd, F_DUPFD_CLOEXEC, policy.lowest); }),
        policy.closed_in_children);
    return moved ? std::move(moved) : std::move(kept);
}

int Descriptor::open(const char *path, int flags, const DescriptorPolicy &policy,
                     Descriptor &result) noexcept {
    const Uncancelled uncancelled;
    const int fd = within_limit(policy, [&] { return ::open(path, flags | O_CLOEXEC); });
    if (fd < 0)
        return errno;
    result = keep(fd, policy);
    return 0;
}

} // namespace rsmdev
