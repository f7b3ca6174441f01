// SPDX-License-Identifier: MIT
// Our requests: from the post through the queue pair to the event.
#pragma once

#include "engine/core/status.h"
#include "engine/core/types.h"
#include "engine/event/event.h"
#include "engine/transfer/requests.h"
#include "memory/rmr.h"
#include "transfer/work.h"

#include <list>

namespace rsmengine {

class VerbsRequests final : public Requests {
  public:
    explicit VerbsRequests(Ep &ep) noexcept : Requests(ep) {}

    using Requests::resize;

    // Checks and queues, as Requests does it with others.
    // `window`: whose key, once the bind has started, is the RMR's context. Null for an unbind.
    Status bind(VerbsRmr &rmr, const Segment &triplet, unsigned privileges, const Post &post,
                std::shared_ptr<ibv_mw> &window);

    void connected() noexcept { stopped_ = failed_ = false; }
    // Hands over what is queued, but leaves no more than `most` to the device at a time, and keeps
    // a fenced request behind reads if the device has no fences. Messages up to `inline_limit`
    // bytes are copied by the device.
    void start(ibv_qp &qp, std::uint32_t inline_limit, std::size_t most) noexcept;
    // Is there something that has not been handed over?
    [[nodiscard]] bool has_backlog() const noexcept { return queue_.has_unstarted(); }
    // The oldest that was handed over has completed.
    void completed(ibv_wc_status status) noexcept;
    // Completes everything as flushed.
    void flush() noexcept;

    [[nodiscard]] bool failed() const noexcept { return failed_; }

  private:
    [[nodiscard]] bool start(Request &request, ibv_qp &qp, std::uint32_t inline_limit) noexcept;
    [[nodiscard]] bool start_message(const Request &request, ibv_qp &qp,
                                     std::uint32_t inline_limit) noexcept;
    [[nodiscard]] bool has_read_credits() const noexcept;
    [[nodiscard]] bool has_fence(const Request &request) const noexcept;
    [[nodiscard]] bool may_start(std::size_t most) noexcept;
    void fail(Request &request, CompletionStatus status) noexcept;
    void settle_bind(Request &request) noexcept;
    void retire() noexcept;

    std::list<VerbsRmr::Prepared> binds_; // of the requests that are binds, in their order
    std::size_t binds_started_ = 0;
    std::size_t reads_ = 0; // that the device has
    bool stopped_ = false;  // a request failed before it was handed over: nothing follows it
    bool failed_ = false;   // a request has completed in error
};

} // namespace rsmengine
