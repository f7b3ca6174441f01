// SPDX-License-Identifier: MIT
// Contract (transport.h): data transfer of one Ep: its two queues and their completions.
//
// A transport's class has Requests and Receives (requests.h, receives.h), which check posts and
// deliver completions; it moves the bytes in between. Requests start and complete in posting order.
#pragma once

#include "engine/core/status.h"
#include "engine/core/view.h"
#include "engine/transfer/post.h"

#include "engine/core/types.h"

namespace rsmengine {

class Rmr;

class Transfer {
  public:
    virtual ~Transfer() = default; // the Ep has left its EVDs, and none of its events is on them
    Transfer(const Transfer &) = delete;
    Transfer &operator=(const Transfer &) = delete;

    // `remote` may be null, which is an error. One virtual call for each post; everything below it
    // is the transport's own code.
    virtual Status post_send(const Post &post) = 0;
    virtual Status post_recv(const Post &post) = 0;
    virtual Status post_write(const Post &post, View<RemoteSegment> remote) = 0;
    virtual Status post_read(const Post &post, View<RemoteSegment> remote) = 0;
    // Uses the cookie and the flags of `post`. `context` may be null.
    virtual Status post_bind(Rmr &rmr, const Segment &triplet, unsigned privileges,
                             const Post &post, RemoteKey *context) = 0;

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
    [[nodiscard]] virtual bool receives_were_posted() const noexcept = 0; // since the Ep exists
    // Receives that hold a buffer; messages up to the last one of these.
    virtual void recv_counts(Count &allocated, Count &span) const noexcept = 0;
    // UNLIMITED: none. May fire at once (soft: async event, hard:
    // Ep::broken).
    virtual void set_watermarks(Count soft, Count hard) noexcept = 0;
    // The Ep's max_recv_dtos, max_request_dtos, iov or RDMA read limits have changed
    // (unconnected). Throws std::bad_alloc.
    virtual void resized() = 0;

  protected:
    Transfer() = default;
};

} // namespace rsmengine
