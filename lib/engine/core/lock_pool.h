// SPDX-License-Identifier: MIT
// The locks of IAs.
#pragma once

#include "engine/core/object.h"

namespace rsmengine {

// Has a lock of the pool as long as it exists, and no other object has that. Throws std::bad_alloc.
class PooledLock {
  public:
    PooledLock();
    ~PooledLock();
    PooledLock(const PooledLock &) = delete;
    PooledLock &operator=(const PooledLock &) = delete;
    [[nodiscard]] Lock &operator*() const noexcept { return *lock_; }

  private:
    Lock *lock_;
};

} // namespace rsmengine
