// SPDX-License-Identifier: GPL-2.0
#pragma once

#include "measure.hpp"
#include "memory.hpp"

namespace rsmperf {

// memcpy() to POSIX shared memory, of the size of the point.
class SharedCopy {
  public:
    explicit SharedCopy(const Settings &settings);

    void run(std::size_t count) const;

  private:
    std::size_t size_;
    PosixShm shared_;
    CopySource source_;
};

} // namespace rsmperf
