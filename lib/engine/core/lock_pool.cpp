// SPDX-License-Identifier: MIT
#include "engine/core/lock_pool.h"

#include <algorithm>
#include <array>
#include <new>

namespace rsmengine {

namespace {

constexpr std::size_t MOST_IAS = 1024; // open at the same time

// Each lock fills a cache line, so that threads with an IA each do not slow each other down.
struct alignas(64) PoolEntry {
    Lock lock;
};

constinit std::array<PoolEntry, MOST_IAS> pool{};

} // namespace

// One whose mutex no other Lock has. After fork() the parent's stay taken in the child: threads
// that are not there may hold them.
PooledLock::PooledLock() {
    const auto take = [](PoolEntry &entry) {
        int nobody = 0;
        return entry.lock.own_.users_.compare_exchange_strong(nobody, 1);
    };
    auto *const entry = std::ranges::find_if(pool, take);
    if (entry == pool.end())
        throw std::bad_alloc();
    lock_ = &entry->lock;
}

PooledLock::~PooledLock() {
    lock_->return_mutex();
    lock_->own_.users_.fetch_sub(1);
}

} // namespace rsmengine
