// SPDX-License-Identifier: MIT
// Attributes of an endpoint: what is set by default, what can be asked for.
#pragma once

#include "engine/core/limit_set.h"
#include "engine/core/types.h"

namespace rsmengine {

class Ep;
class Evd;
class Ia;

struct EpAttributes {
    std::uint64_t max_message_size;
    std::uint64_t max_rdma_size;
    CompletionFlags recv_completion_flags;
    CompletionFlags request_completion_flags;
    Count max_recv_dtos; // with an SRQ: the hard high watermark
    Count max_request_dtos;
    Count max_recv_iov;
    Count max_request_iov;
    Count max_rdma_read_in;
    Count max_rdma_read_out;
    Count srq_soft_hw;       // with an SRQ: the soft high watermark
    Count max_rdma_read_iov; // 0: as max_request_iov
    Count max_rdma_write_iov;
};

// The attributes of an endpoint whose program asks for none. A direction without an EVD takes no
// posts.
EpAttributes default_attributes(const LimitSet &limits, bool receives, bool requests) noexcept;

// True if an endpoint can have these attributes. With an SRQ, the SRQ has the attributes of the
// receive side, and the endpoint has the watermarks alone.
bool are_possible(const LimitSet &limits, const EpAttributes &attributes, bool with_srq) noexcept;

// The attributes that an endpoint keeps. Where the program leaves the length of the vectors of RDMA
// operations at 0, the length is that of other requests.
EpAttributes kept_attributes(const EpAttributes &asked) noexcept;

// True if the value can be a high watermark.
inline bool is_watermark(Count value) noexcept {
    return value >= 0 || value == UNLIMITED;
}

// The streams that an endpoint would feed.
struct Streams {
    Evd *recv;
    Evd *request;
    Evd *connect;
    CompletionFlags recv_flags;
    CompletionFlags request_flags;
    bool srq;
};

// True if the EVDs accept these streams beside those they have already (7.3). The streams of `self`
// are not counted.
bool may_share(const Ia &ia, const Ep *self, const Streams &streams) noexcept;

} // namespace rsmengine
