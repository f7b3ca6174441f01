// SPDX-License-Identifier: MIT
// Data transfer of one Ep: a queue pair, and the bookkeeping that turns its completions, which come
// to the channels of the Ep's EVDs, into events.
//
// The queue pair is made when a connection is asked for or accepted, and stopped when that ends:
// so nothing of an old connection can reach a new one, and memory is the program's again when the
// event that tells of the end is delivered. Receives that are posted before wait here.
#pragma once

#include "engine/connect/ep.h"
#include "engine/core/own.h"
#include "engine/core/status.h"
#include "engine/core/types.h"
#include "engine/core/view.h"
#include "engine/transfer/transfer.h"

#include <memory>

struct ibv_qp;

namespace rsmengine {

class VerbsTransfer final : public Transfer {
  public:
    // For the Ep's attributes and SRQ. Throws std::bad_alloc.
    explicit VerbsTransfer(Ep &ep);
    ~VerbsTransfer() override;

    Status post_send(const Post &what) override;
    Status post_recv(const Post &what) override;
    Status post_write(const Post &what, View<RemoteSegment> remote) override;
    Status post_read(const Post &what, View<RemoteSegment> remote) override;
    Status post_bind(Rmr &rmr, const Segment &triplet, unsigned privileges, const Post &what,
                     RemoteKey *context) override;

    // Before connect and accept, the Ep's Pz is known: there is a queue pair in state INIT, and the
    // receives are posted to it. OK or what Connector::connect is to answer. Throws
    // std::bad_alloc.
    Status prepare();
    // Undoes prepare(): the receives wait here again.
    void abandon() noexcept;
    [[nodiscard]] ibv_qp &qp() const noexcept; // after prepare(), until disconnected() or flush()

    // The Ep is CONNECTED, the queue pair is in state RTS: completions are taken from now on, by
    // progress(), which is to be called once ESTABLISHED has been delivered.
    void connected() noexcept;
    // Takes everything that has completed. Calls Ep::broken on errors and Ep::drained when the last
    // request of a DISCONNECT_PENDING Ep has completed.
    void progress() noexcept override;
    // The connection has ended, or is about to: takes what has completed, stops the queue pair,
    // which another thread destroys, and completes all that is outstanding with FLUSHED, in order,
    // requests and receives.
    void disconnected() noexcept override;
    // Posted receives and requests complete FLUSHED (failed connection attempts).
    void flush() noexcept override;
    // Both queues are empty; drops the completions that have not been dequeued.
    void reset() noexcept override;

    [[nodiscard]] bool recv_idle() const noexcept override;
    [[nodiscard]] bool request_idle() const noexcept override;
    [[nodiscard]] bool receives_were_posted() const noexcept override;
    void recv_counts(Count &allocated, Count &span) const noexcept override;
    // UNLIMITED: none. May fire at once (soft: async event, hard:
    // Ep::broken).
    void set_watermarks(Count soft, Count hard) noexcept override;
    // The Ep's max_recv_dtos, max_request_dtos, iov or RDMA read limits have changed
    // (unconnected). Throws std::bad_alloc.
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

} // namespace rsmengine
