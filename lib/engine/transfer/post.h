// SPDX-License-Identifier: MIT
// The parts of every post.
#pragma once

#include "engine/core/types.h"
#include "engine/core/view.h"

namespace rsmengine {

struct Post {
    Count segments;
    View<Segment> iov;
    Cookie cookie;
    CompletionFlags flags;
};

// Flags of all requests; sends take CompletionFlags::SOLICITED, too.
constexpr CompletionFlags REQUEST_FLAGS =
    CompletionFlags::SUPPRESS | CompletionFlags::UNSIGNALLED | CompletionFlags::FENCE;

} // namespace rsmengine
