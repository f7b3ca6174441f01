// SPDX-License-Identifier: MIT
// Contract (transport.h): data transfer of one Ep: its two queues and their completions.
//
// A transport's class has Requests and Receives (requests.h, receives.h), which check posts and
// deliver completions; it moves the bytes in between. Requests start and complete in posting order.
#pragma once

#include "engine/transfer/post.h"

#include <dat/udat.h>

namespace rsmdat {

class Rmr;

class Transfer {
  public:
    virtual ~Transfer() = default; // the Ep has left its EVDs, and none of its events is on them
    Transfer(const Transfer &) = delete;
    Transfer &operator=(const Transfer &) = delete;

    // Argument positions in errors are those of the dat_ function; `remote` may be null, which is
    // one of these errors. One virtual call for each post; everything below it is the transport's
    // own code.
    virtual DAT_RETURN post_send(const Post &post) = 0;
    virtual DAT_RETURN post_recv(const Post &post) = 0;
    virtual DAT_RETURN post_write(const Post &post, const DAT_RMR_TRIPLET *remote) = 0;
    virtual DAT_RETURN post_read(const Post &post, const DAT_RMR_TRIPLET *remote) = 0;
    // The post has a cookie and flags. `context` may be null.
    virtual DAT_RETURN post_bind(Rmr &rmr, const DAT_LMR_TRIPLET &triplet,
                                 DAT_MEM_PRIV_FLAGS privileges, const Post &post,
                                 DAT_RMR_CONTEXT *context) = 0;

    // Takes everything that has arrived or completed, goes on with what waits for room. The
    // transport calls Ep::broken on errors and Ep::drained when the last request of a
    // DISCONNECT_PENDING Ep has completed.
    virtual void progress() noexcept = 0;
    // The connection has ended, or is about to, and the peer has not been told yet: takes what has
    // completed, forgets the link, and completes all that is outstanding with FLUSHED, in order,
    // requests and receives. The peer reaches no memory of the Ep's when this returns.
    virtual void disconnected() noexcept = 0;
    // Posted receives and requests complete FLUSHED (failed connection attempts).
    virtual void flush() noexcept = 0;
    // Both queues are empty; drops the completions that have not been dequeued.
    virtual void reset() noexcept = 0;

    [[nodiscard]] virtual bool recv_idle() const noexcept = 0;
    [[nodiscard]] virtual bool request_idle() const noexcept = 0;
    [[nodiscard]] virtual bool
    receives_were_posted() const noexcept = 0; // ever: dat_ep_modify asks
    // dat_ep_recv_query
    virtual void recv_counts(DAT_COUNT &allocated, DAT_COUNT &span) const noexcept = 0;
    // dat_ep_set_watermark; INFINITE disables. May fire at once (soft: async event, hard:
    // Ep::broken).
    virtual void set_watermarks(DAT_COUNT soft, DAT_COUNT hard) noexcept = 0;
    // The Ep's max_recv_dtos, max_request_dtos, iov or RDMA read limits have changed
    // (dat_ep_modify, unconnected). Throws std::bad_alloc.
    virtual void resized() = 0;

  protected:
    Transfer() = default;
};

} // namespace rsmdat
