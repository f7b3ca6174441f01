// SPDX-License-Identifier: MIT
// Our requests: from the post through the ring, or directly into the peer's memory, to the event.
#pragma once

#include "engine/core/status.h"
#include "engine/core/types.h"
#include "engine/core/view.h"
#include "engine/event/event.h"
#include "engine/transfer/fifo.h"
#include "engine/transfer/requests.h"
#include "memory/rmr.h"
#include "transfer/notifying_channel.h"
#include "transfer/remote_region_cache.h"

#include <list>
#include <optional>

namespace rsmengine {

class Ep;

class RsmRequests final : public Requests {
  public:
    RsmRequests(Ep &ep, NotifyingChannel &channel) noexcept : Requests(ep), channel_(channel) {}

    // The Ep's limits have changed; nothing is queued. Throws std::bad_alloc.
    void resize();

    // Carries out a write at once and completes it, if it is what most are: one piece, without
    // flags, into mapped memory that was written to before, and nothing ahead of it. False, and
    // nothing has happened, if it is not, or anything is wrong with it.
    bool write_at_once(const Post &post, View<RemoteSegment> remote) noexcept;
    // Puts a send into the ring at once, likewise: one piece that fits in one message, and nothing
    // ahead of it waits.
    bool send_at_once(const Post &post) noexcept;
    // Checks and queues, as Requests does it with others.
    Status bind(RsmRmr &rmr, const Segment &triplet, unsigned privileges, const Post &post,
                RemoteKey *context);

    void connected() noexcept;
    // Starts what can be started, completes what is done.
    void go_on() noexcept;
    // Reads how many requests the peer has carried out.
    void acknowledge() noexcept;
    // Handles a message of the peer. False if it is malformed.
    bool take(const Message &message) noexcept;
    void bad_response() noexcept;
    // Completes everything; what is not done is flushed.
    void flush() noexcept;

    [[nodiscard]] bool has_unstarted() const noexcept { return queue_.has_unstarted(); }
    [[nodiscard]] bool failed() const noexcept { return failed_; }
    // True if there is more to do, but other threads should get the lock first.
    [[nodiscard]] bool budget_exhausted() const noexcept { return turns_ == 0; }

  private:
    enum class Way { DONE, WAIT, RING };

    bool start(Request &request) noexcept;
    [[nodiscard]] bool held_back(const Request &request) const noexcept;
    [[nodiscard]] bool rdma_unanswered() const noexcept;
    [[nodiscard]] std::span<const Segment> reachable(const Request &request, Pieces &room) noexcept;
    [[nodiscard]] bool still_intact(const Request &request) noexcept;
    bool start_rdma(Request &request) noexcept;
    bool start_read(Request &request) noexcept;
    bool stream(Request &request, MessageKind kind) noexcept;
    bool send_piece(const Request &request, std::span<const Segment> pieces,
                    const MessageHeader &header) noexcept;
    void start_bind(Request &request) noexcept;

    Way direct(Request &request) noexcept;
    Way ask(RemoteKey context) noexcept;
    [[nodiscard]] Count read_credits() const noexcept;

    bool take_data(const Message &message) noexcept;
    bool take_grant(const Message &message) noexcept;
    bool take_fault(const MessageHeader &header) noexcept;
    bool take_done(const MessageHeader &header) noexcept;

    static void succeed(Request &request) noexcept { request.done = true; }
    void fail(Request &request, CompletionStatus status) noexcept;
    void retire() noexcept;
    void drop_bind() noexcept;
    void drop(std::unique_ptr<RemoteRegion> region) noexcept;

    NotifyingChannel &channel_;
    std::list<RsmRmr::Prepared> binds_; // of the unstarted requests, in their order
    Fifo<Request *> reads_;             // in flight through the ring
    RemoteRegionCache remote_regions_;
    std::optional<RemoteKey> asked_;
    std::uint64_t sent_ = 0;      // requests that are wholly in the ring, ever
    std::uint64_t executed_ = 0;  // of these, by the peer
    std::uint64_t rdma_sent_ = 0; // the same up to the last RDMA write
    int turns_ = 0;
    bool failed_ = false;
    bool faulted_ = false; // a request has completed without success: those behind it are flushed
};

} // namespace rsmengine
