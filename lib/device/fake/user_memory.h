// SPDX-License-Identifier: MIT
// Memory of the program that may not be there: the kernel copies, so that nothing faults.
#pragma once

#include <cstddef>
#include <cstdint>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

namespace rsmfake {

// As wide as a register: of an int on the stack syscall() would take in what lies beside it.
inline constexpr unsigned long NO_FLAGS = 0;

inline bool copy_in(void *to, std::uint64_t from, std::size_t size) noexcept {
    const iovec local{to, size};
    const iovec user{reinterpret_cast<void *>(from), size};
    return ::syscall(SYS_process_vm_readv, ::syscall(SYS_getpid), &local, 1, &user, 1, NO_FLAGS) ==
           static_cast<long>(size);
}

inline bool copy_out(std::uint64_t to, const void *from, std::size_t size) noexcept {
    const iovec local{const_cast<void *>(from), size};
    const iovec user{reinterpret_cast<void *>(to), size};
    return ::syscall(SYS_process_vm_writev, ::syscall(SYS_getpid), &local, 1, &user, 1, NO_FLAGS) ==
           static_cast<long>(size);
}

} // namespace rsmfake
