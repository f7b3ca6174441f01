// SPDX-License-Identifier: MIT
#include "core/lock_pool.h"

#include <algorithm>
#include <array>
#include <new>

namespace rsmdat {

namespace {

constexpr std::size_t MOST_IAS = 1024; // open at the same time

struct PoolEntry {
    Lock lock;
    std::atomic<bool> taken{false};
};

constinit std::array<PoolEntry, MOST_IAS> pool{};

} // namespace

// One whose mutex no other Lock has. After fork() the parent's stay taken in the child: threads that
// are not there may hold them.
PooledLock::PooledLock() {
    const auto take = [](PoolEntry &entry) { return !entry.taken.exchange(true); };
    auto *const entry = std::ranges::find_if(pool, take);
    if (entry == pool.end())
        throw std::bad_alloc();
    lock_ = &entry->lock;
}

PooledLock::~PooledLock() {
    const auto ours = [this](const PoolEntry &entry) { return &entry.lock == lock_; };
    std::ranges::find_if(pool, ours)->taken.store(false);
}

} // namespace rsmdat
