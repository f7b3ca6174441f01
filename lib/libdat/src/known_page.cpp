// SPDX-License-Identifier: MIT
#include "known_page.h"

#include <cerrno>
#include <sys/syscall.h>
#include <unistd.h>

namespace dat {

constinit KnownPages known_pages;

// The kernel reads a signal mask of eight bytes, and then refuses the operation, which is none.
bool is_readable(DAT_HANDLE handle) noexcept {
    constexpr int NO_OPERATION = -1;
    static_assert(sizeof(std::uint64_t) == sizeof(const DAT_PROVIDER *));
    const int before = errno;
    const bool fault = ::syscall(SYS_rt_sigprocmask, NO_OPERATION, handle, nullptr,
                                 sizeof(std::uint64_t)) != 0 &&
                       errno == EFAULT;
    errno = before;
    return !fault;
}

} // namespace dat
