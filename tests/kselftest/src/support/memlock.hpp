// SPDX-License-Identifier: GPL-2.0
// The limit of locked memory, and root as a user whom it binds.
#pragma once

#include "support/system.hpp"

#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace rsmtest {

inline void limit_locked_pages(std::size_t pages)
{
    const rlimit limit{pages * page_size(), pages * page_size()};
    ASSERT_EQ(setrlimit(RLIMIT_MEMLOCK, &limit), 0);
}

// Root without CAP_IPC_LOCK is like any other user.
inline void drop_ipc_lock()
{
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct data[2]{};
    ASSERT_EQ(syscall(SYS_capget, &header, data), 0);
    data[CAP_IPC_LOCK / 32].effective &= ~(1u << (CAP_IPC_LOCK % 32));
    data[CAP_IPC_LOCK / 32].permitted &= ~(1u << (CAP_IPC_LOCK % 32));
    ASSERT_EQ(syscall(SYS_capset, &header, data), 0);
}

} // namespace rsmtest
