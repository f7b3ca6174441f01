// SPDX-License-Identifier: MIT
// Data transfer of one Ep: a queue pair, and the bookkeeping that turns its completions, which come
// to the channels of the Ep's EVDs, into events.
//
// The queue pair is made when a connection is asked for or accepted, and destroyed when that ends:
// so nothing of an old connection can reach a new one, and memory is the program's again when the
// event that tells of the end is delivered. Receives that are posted before wait here.
#pragma once

#include "engine/connect/ep.h"
#include "engine/core/own.h"
#include "engine/transfer/transfer.h"

#include <memory>

struct ibv_qp;

namespace rsmdat {

class VerbsTransfer final : public Transfer {
  public:
    // For the Ep's attributes and SRQ. Throws std::bad_alloc.
    explicit VerbsTransfer(Ep &ep);
    ~VerbsTransfer() override;

    DAT_RETURN post_send(const Post &what) override;
    DAT_RETURN post_recv(const Post &what) override;
    DAT_RETURN post_write(const Post &what, const DAT_RMR_TRIPLET *remote) override;
    DAT_RETURN post_read(const Post &what, const DAT_RMR_TRIPLET *remote) override;
    DAT_RETURN post_bind(Rmr &rmr, const DAT_LMR_TRIPLET &triplet, DAT_MEM_PRIV_FLAGS privileges,
                         const Post &what, DAT_RMR_CONTEXT *context) override;

    // Before connect and accept, the Ep's Pz is known: there is a queue pair in state INIT, and the
    // receives are posted to it. DAT_SUCCESS or what dat_ep_connect is to answer. Throws
    // std::bad_alloc.
    DAT_RETURN prepare();
    [[nodiscard]] ibv_qp &qp() const noexcept; // after prepare(), until disconnected() or flush()

    // The Ep is CONNECTED, the queue pair is in state RTS: completions are taken from now on, by
    // progress(), which is to be called once ESTABLISHED has been delivered.
    void connected() noexcept;
    // Takes everything that has completed. Calls Ep::broken on errors and Ep::drained when the last
    // request of a DISCONNECT_PENDING Ep has completed.
    void progress() noexcept override;
    // The connection has ended, or is about to: takes what has completed, destroys the queue pair,
    // and completes all that is outstanding with FLUSHED, in order, requests and receives.
    void disconnected() noexcept override;
    // Posted receives and requests complete FLUSHED (failed connection attempts).
    void flush() noexcept override;
    // Both queues are empty; drops the completions that have not been dequeued.
    void reset() noexcept override;

    [[nodiscard]] bool recv_idle() const noexcept override;
    [[nodiscard]] bool request_idle() const noexcept override;
    [[nodiscard]] bool receives_were_posted() const noexcept override; // ever: dat_ep_modify asks
    // dat_ep_recv_query
    void recv_counts(DAT_COUNT &allocated, DAT_COUNT &span) const noexcept override;
    // dat_ep_set_watermark; INFINITE disables. May fire at once (soft: async event, hard:
    // Ep::broken).
    void set_watermarks(DAT_COUNT soft, DAT_COUNT hard) noexcept override;
    // The Ep's max_recv_dtos, max_request_dtos, iov or RDMA read limits have changed
    // (dat_ep_modify, unconnected). Throws std::bad_alloc.
    void resized() override;

    // Pings the peer if no other work is outstanding. An answer causes no event; a missing answer
    // breaks the connection.
    void ping() noexcept;
    // A thread polls and need not be woken. The Ep is CONNECTED or DISCONNECT_PENDING.
    void disarm() noexcept;
    // True if queued work has yet to be posted to the device; it must not wait until the program
    // polls.
    [[nodiscard]] bool has_backlog() const noexcept;

  private:
    struct Inside;
    std::unique_ptr<Inside> inside_;
};

inline VerbsTransfer &transfer_of(const Ep &ep) noexcept {
    return own<VerbsTransfer>(*ep.transfer);
}

} // namespace rsmdat
