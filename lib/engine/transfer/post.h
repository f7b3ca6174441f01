// SPDX-License-Identifier: MIT
// The parts of every post.
#pragma once

#include <dat/udat.h>

namespace rsmdat {

struct Post {
    DAT_COUNT segments;
    const DAT_LMR_TRIPLET *iov;
    DAT_DTO_COOKIE cookie;
    DAT_COMPLETION_FLAGS flags;
};

// Flags of all requests; sends take DAT_COMPLETION_SOLICITED_WAIT_FLAG, too.
constexpr unsigned REQUEST_FLAGS = DAT_COMPLETION_SUPPRESS_FLAG | DAT_COMPLETION_UNSIGNALLED_FLAG |
                                   DAT_COMPLETION_BARRIER_FENCE_FLAG;

} // namespace rsmdat
