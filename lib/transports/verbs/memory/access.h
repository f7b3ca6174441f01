// SPDX-License-Identifier: MIT
// Privileges as a device has them.
#pragma once

#include <dat/udat.h>

#include <infiniband/verbs.h>

namespace rsmdat {

// Local reads are always possible; what peers may write the device must be able to.
constexpr unsigned remote_access_of(unsigned privileges) noexcept {
    unsigned access = 0;
    if ((privileges & DAT_MEM_PRIV_REMOTE_READ_FLAG) != 0)
        access |= IBV_ACCESS_REMOTE_READ;
    if ((privileges & DAT_MEM_PRIV_REMOTE_WRITE_FLAG) != 0)
        access |= IBV_ACCESS_REMOTE_WRITE;
    return access;
}

// Access of an LMR.
constexpr unsigned access_of(unsigned privileges) noexcept {
    constexpr unsigned WRITES = DAT_MEM_PRIV_LOCAL_WRITE_FLAG | DAT_MEM_PRIV_REMOTE_WRITE_FLAG;
    const unsigned local = (privileges & WRITES) != 0 ? IBV_ACCESS_LOCAL_WRITE : 0;
    return local | remote_access_of(privileges);
}

} // namespace rsmdat
