// SPDX-License-Identifier: MIT
// Attributes of an endpoint: what is set by default, what can be asked for.
#pragma once

#include "engine/core/limit_set.h"

namespace rsmdat {

class Ep;
class Evd;
class Ia;

// Those of a NULL pointer. A direction without an EVD takes no posts.
DAT_EP_ATTR default_attributes(const LimitSet &limits, bool receives, bool requests) noexcept;

// DAT_SUCCESS, or what is wrong with them: the argument at `position`, or something that could be
// and is not supported. With an SRQ the receive side's are those of the SRQ, but for the
// watermarks.
DAT_RETURN check_attributes(const LimitSet &limits, const DAT_EP_ATTR &attributes, bool with_srq,
                            int position) noexcept;

// As they are kept: no named ones, and vectors of RDMA operations no shorter than a program that
// does not know of these fields would have them.
DAT_EP_ATTR kept_attributes(const DAT_EP_ATTR &asked) noexcept;

// A high watermark, as an attribute and of dat_ep_set_watermark.
inline bool is_watermark(DAT_COUNT value) noexcept {
    return value >= 0 || value == DAT_WATERMARK_INFINITE;
}

// The streams that an endpoint would feed.
struct Streams {
    Evd *recv;
    Evd *request;
    Evd *connect;
    DAT_COMPLETION_FLAGS recv_flags;
    DAT_COMPLETION_FLAGS request_flags;
    bool srq;
};

// True if the EVDs accept these streams beside those they have already (7.3). The streams of `self`
// are not counted.
bool may_share(const Ia &ia, const Ep *self, const Streams &streams) noexcept;

} // namespace rsmdat
