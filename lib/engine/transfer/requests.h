// SPDX-License-Identifier: MIT
// Contract (transport.h): what every transport does with a request: the checks of a post, the
// queue, and the event of a completion. A transport derives its own class, which starts and ends
// requests.
#pragma once

#include "engine/transfer/post.h"
#include "engine/transfer/request_queue.h"

namespace rsmdat {

class Ep;

class Requests {
  public:
    Requests(const Requests &) = delete;
    Requests &operator=(const Requests &) = delete;

    // Check and queue. DAT_INSUFFICIENT_RESOURCES if the queue is full.
    DAT_RETURN send(const Post &post) noexcept;
    DAT_RETURN rdma(bool write, const Post &post, const DAT_RMR_TRIPLET *remote) noexcept;

    // The most pieces that a request may have.
    [[nodiscard]] DAT_COUNT widest() const noexcept;
    [[nodiscard]] bool idle() const noexcept { return queue_.empty(); }

  protected:
    explicit Requests(Ep &ep) noexcept : ep_(ep) {}
    ~Requests() = default;

    // The Ep's limits have changed; nothing is queued. Throws std::bad_alloc.
    void resize();
    [[nodiscard]] DAT_RETURN may_post(const Post &post, DAT_COUNT most) const noexcept;
    [[nodiscard]] DAT_RETURN check_flags(const Post &post, unsigned flags,
                                         int position) const noexcept;
    DAT_RETURN queue(const Request &request) noexcept;
    [[nodiscard]] bool full() const noexcept;
    // Takes the oldest request from the queue and delivers its event.
    void complete(Request &request) noexcept;

    Ep &ep_;
    RequestQueue queue_;
    int in_use_ = 0; // posted, and their events not dequeued

  private:
    DAT_RETURN gather(const Post &post, DAT_MEM_PRIV_FLAGS privilege, Request &request) noexcept;
};

} // namespace rsmdat
