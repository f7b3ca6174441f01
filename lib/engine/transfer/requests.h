// SPDX-License-Identifier: MIT
// Contract (transport.h): what every transport does with a request: the checks of a post, the
// queue, and the event of a completion. A transport derives its own class, which starts and ends
// requests.
#pragma once

#include "engine/core/status.h"
#include "engine/core/types.h"
#include "engine/core/view.h"
#include "engine/transfer/post.h"
#include "engine/transfer/request_queue.h"

namespace rsmengine {

class Ep;

class Requests {
  public:
    Requests(const Requests &) = delete;
    Requests &operator=(const Requests &) = delete;

    // Check and queue. NO_MEMORY if the queue is full.
    Status send(const Post &post) noexcept;
    Status rdma(bool write, const Post &post, View<RemoteSegment> remote) noexcept;

    // The most pieces that a request may have.
    [[nodiscard]] Count widest() const noexcept;
    [[nodiscard]] bool idle() const noexcept { return queue_.empty(); }

  protected:
    explicit Requests(Ep &ep) noexcept : ep_(ep) {}
    ~Requests() = default;

    // The Ep's limits have changed; nothing is queued. Throws std::bad_alloc.
    void resize();
    [[nodiscard]] Status may_post(const Post &post, Count most) const noexcept;
    [[nodiscard]] Status check_flags(const Post &post, CompletionFlags flags,
                                     Status refusal) const noexcept;
    Status queue(const Request &request) noexcept;
    [[nodiscard]] bool full() const noexcept;
    // Takes the oldest request from the queue and delivers its event.
    void complete(Request &request) noexcept;

    Ep &ep_;
    RequestQueue queue_;
    int in_use_ = 0; // posted, and their events not dequeued

  private:
    Status gather(const Post &post, unsigned privilege, Request &request) noexcept;
};

} // namespace rsmengine
