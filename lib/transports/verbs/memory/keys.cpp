// SPDX-License-Identifier: MIT
#include "memory/keys.h"

#include "core/transport.h"
#include "engine/core/status.h"
#include "memory/access.h"
#include "wire/rdma_device.h"

#include <cerrno>

namespace rsmengine {
namespace {

ibv_mr *try_to_register(const VerbsPz &pz, const Wanted &wanted, unsigned access) noexcept {
    auto *start = reinterpret_cast<void *>(wanted.address);
    return ::ibv_reg_mr(pz.domain.get(), start, static_cast<std::size_t>(wanted.length), access);
}

// For write access the kernel reports read-only memory and missing memory by the same error.
Status bad_memory(const VerbsPz &pz, const Wanted &wanted, unsigned access) noexcept {
    if ((access & IBV_ACCESS_LOCAL_WRITE) == 0)
        return Status::BAD_ADDRESS;
    const Owned<ibv_mr, ibv_dereg_mr> readable(try_to_register(pz, wanted, 0));
    return readable ? Status::BAD_RIGHTS : Status::BAD_ADDRESS;
}

Status why_not(const VerbsPz &pz, const Wanted &wanted, unsigned access, int error) noexcept {
    switch (error) {
    case EFAULT:
    case EINVAL:
    case EOPNOTSUPP:
        return bad_memory(pz, wanted, access);
    case EACCES:
    case EPERM:
        return Status::BAD_RIGHTS;
    case ENOMEM:
        return Status::NO_MEMORY;
    default:
        return Status::NO_REGIONS;
    }
}

} // namespace

// For memory that windows may be bound to, the kernel wants write access to the pages. If it does
// not get that, register the memory without windows.
Status register_memory(const VerbsPz &pz, const Wanted &wanted, std::shared_ptr<Pinned> &result) {
    const unsigned access = access_of(wanted.privileges);
    const bool windows = transport_of(pz.ia()).device->has_windows();
    Owned<ibv_mr, ibv_dereg_mr> keys;
    if (windows)
        keys.reset(try_to_register(pz, wanted, access | IBV_ACCESS_MW_BIND));
    const bool bindable = static_cast<bool>(keys);
    if (!bindable)
        keys.reset(try_to_register(pz, wanted, access));
    if (!keys)
        return why_not(pz, wanted, access, errno);
    result = std::make_shared<VerbsPinned>(pz.domain, std::move(keys), wanted.address,
                                           wanted.length, bindable);
    return Status::OK;
}

} // namespace rsmengine
