// SPDX-License-Identifier: MIT
#include "device/handle.h"

#include "device/open.h"
#include "device/wait.h"

namespace rsmdev {

int Handle::open(const Policy &policy, const Table *table) noexcept {
    policy_ = &policy;
    table_ = table;
    return open_device(HandleKind::segment, policy, descriptor_);
}

int Handle::post(std::uint32_t flags) const noexcept {
    rsm_post post{};
    post.flags = flags;
    return give(RSM_IOC_POST, post);
}

int Handle::wait(std::int64_t timeout_ns) const {
    rsm_wait wait{};
    wait.size = sizeof(wait);
    wait.timeout_ns = timeout_ns;
    if (timeout_ns == 0)
        return command(fd(), RSM_IOC_WAIT, wait);
    if (rsmdev_wait(fd(), RSM_IOC_WAIT, &wait) == 0)
        return static_cast<int>(wait.status);
    return status_of_errno(errno);
}

} // namespace rsmdev
