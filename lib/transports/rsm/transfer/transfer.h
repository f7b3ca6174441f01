// SPDX-License-Identifier: MIT
// Data transfer of one Ep: its two queues, the protocol with the peer, completions.
//
// An RDMA operation to a peer on the same node is a copy by the poster (RemoteRegion), done at post
// time if nothing is ahead of it; all else travels through the rings and is carried out by the
// peer, whose count of executed requests completes ours.
#pragma once

#include "engine/connect/ep.h"
#include "engine/core/own.h"
#include "engine/core/status.h"
#include "engine/core/types.h"
#include "engine/core/view.h"
#include "engine/transfer/transfer.h"
#include "transfer/notifying_channel.h"
#include "transfer/receives.h"
#include "transfer/requests.h"

namespace rsmengine {

class RsmTransfer final : public Transfer {
  public:
    explicit RsmTransfer(Ep &ep); // throws std::bad_alloc
    ~RsmTransfer() override;

    Status post_send(const Post &what) override;
    Status post_recv(const Post &what) override;
    Status post_write(const Post &what, View<RemoteSegment> remote) override;
    Status post_read(const Post &what, View<RemoteSegment> remote) override;
    Status post_bind(Rmr &rmr, const Segment &triplet, unsigned privileges, const Post &what,
                     RemoteKey *context) override;

    // The Ep is CONNECTED: both rings may be used from now on, by progress(), which is to be called
    // once ESTABLISHED has been delivered. Channel lives until disconnected().
    void connected(Channel &channel) noexcept;
    void progress() noexcept override;
    // True if progress() would find work. Reads a few words only: polling calls it far more often
    // than it returns true.
    [[nodiscard]] bool has_work() const noexcept;
    // The peer gets a last message, and tickets given to it are revoked.
    void disconnected() noexcept override;
    void flush() noexcept override;
    void reset() noexcept override;

    [[nodiscard]] bool recv_idle() const noexcept override;
    [[nodiscard]] bool request_idle() const noexcept override;
    [[nodiscard]] bool receives_were_posted() const noexcept override;
    void recv_counts(Count &allocated, Count &span) const noexcept override;
    void set_watermarks(Count soft, Count hard) noexcept override;
    void resized() override;

  private:
    template <class What>
    Status post(What what) noexcept(noexcept(what()));
    void posted() noexcept;
    void take_responses() noexcept;
    bool take_response(const Message &message) noexcept;
    void reschedule() noexcept;
    void update_state() noexcept;
    void resize();

    Ep &ep_;
    NotifyingChannel channel_;
    RsmRequests out_;
    RsmReceives in_;
    Engine::Alarm again_ = 0;
    bool budget_exhausted_ = false; // of responses
};

inline RsmTransfer &transfer_of(const Ep &ep) noexcept {
    return own<RsmTransfer>(*ep.transfer);
}

} // namespace rsmengine
