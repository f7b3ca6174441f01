// SPDX-License-Identifier: MIT
// Order of memory accesses that the C++ memory model does not give by an atomic operation alone.
#pragma once

#include <atomic>

namespace rsmdev {

// Behind an atomic read-modify-write that took place: later accesses come after its store, too. In
// C++ its store may become visible after a later load, and on arm64 it does. On x86 every such
// operation is a full barrier.
inline void full_barrier_after_rmw() noexcept {
#if defined(__x86_64__) || defined(__i386__)
    std::atomic_signal_fence(std::memory_order_seq_cst);
#else
    std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

} // namespace rsmdev
