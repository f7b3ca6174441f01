// SPDX-License-Identifier: MIT
// Data transfer of one Ep: its two queues, the protocol with the peer, completions.
//
// Requests start and complete in posting order. An RDMA operation to a peer on the same node is a
// copy by the poster (RemoteRegion), done at post time if nothing is ahead of it; all else travels
// through the rings and is carried out by the peer, whose count of executed requests completes
// ours.
#pragma once

#include <dat/udat.h>

#include "wire/channel.h"

#include <cstdint>
#include <memory>
#include <span>

namespace rsmdat {

class Ep;
class Rmr;

class Transfer {
  public:
    // For the Ep's attributes and SRQ. Throws std::bad_alloc.
    explicit Transfer(Ep &ep);
    ~Transfer(); // the Ep has left its EVDs, and none of its events is on them

    // API operations; argument positions in errors are those of the dat_ function. Ia::lock held.
    DAT_RETURN post_send(DAT_COUNT segments, const DAT_LMR_TRIPLET *iov, DAT_DTO_COOKIE cookie,
                         DAT_COMPLETION_FLAGS flags);
    DAT_RETURN post_recv(DAT_COUNT segments, const DAT_LMR_TRIPLET *iov, DAT_DTO_COOKIE cookie,
                         DAT_COMPLETION_FLAGS flags);
    DAT_RETURN post_rdma(bool write, DAT_COUNT segments, const DAT_LMR_TRIPLET *iov,
                         DAT_DTO_COOKIE cookie, const DAT_RMR_TRIPLET *remote,
                         DAT_COMPLETION_FLAGS flags);
    DAT_RETURN post_bind(Rmr &rmr, const DAT_LMR_TRIPLET &triplet, DAT_MEM_PRIV_FLAGS privileges,
                         DAT_RMR_COOKIE cookie, DAT_COMPLETION_FLAGS flags,
                         DAT_RMR_CONTEXT *context);

    // The Ep is CONNECTED: both rings may be used from now on, by progress(), which is to be called
    // once ESTABLISHED has been delivered. Channel lives until disconnected().
    void connected(Channel &channel) noexcept;
    // Takes everything that has arrived, goes on with what waits for room. Calls Ep::broken on
    // errors and Ep::drained when the last request of a DISCONNECT_PENDING Ep has completed.
    void progress() noexcept;
    // Would progress() find something to do? Only looks: it is asked much more often than it says
    // yes.
    [[nodiscard]] bool has_work() const noexcept;
    // The channel is about to go, and the peer has not been told yet: leaves it a last message,
    // forgets the channel, and completes all that is outstanding with FLUSHED, in order, requests
    // and receives. Tickets given to the peer are revoked.
    void disconnected() noexcept;
    // Posted receives and requests complete FLUSHED (failed connection attempts; also by
    // disconnected()).
    void flush() noexcept;
    // Both queues are empty; drops the completions that have not been dequeued.
    void reset() noexcept;

    [[nodiscard]] bool recv_idle() const noexcept;
    [[nodiscard]] bool request_idle() const noexcept;
    [[nodiscard]] bool receives_were_posted() const noexcept; // ever: dat_ep_modify asks
    // dat_ep_recv_query
    void recv_counts(DAT_COUNT &allocated, DAT_COUNT &span) const noexcept;
    // dat_ep_set_watermark; INFINITE disables. May fire at once (soft: async event, hard:
    // Ep::broken).
    void set_watermarks(DAT_COUNT soft, DAT_COUNT hard) noexcept;
    // The Ep's max_recv_dtos, max_request_dtos, iov or RDMA read limits have changed
    // (dat_ep_modify, unconnected). Throws std::bad_alloc.
    void resized();

  private:
    struct Inside;
    std::unique_ptr<Inside> inside_;
};

} // namespace rsmdat
