// SPDX-License-Identifier: MIT
// Event dispatchers: a queue of events, a waiter, and the streams that feed it.
#pragma once

#include "engine/core/ia.h"
#include "engine/core/status.h"
#include "engine/core/types.h"
#include "engine/event/event.h"
#include "engine/event/event_queue.h"
#include "engine/event/feeders.h"
#include "engine/event/futex.h"
#include "engine/event/spin.h"

namespace rsmengine {

class Cno;

class Evd final : public Object {
  public:
    static constexpr ObjectKind KIND = ObjectKind::EVD;

    // Throws std::bad_alloc.
    Evd(Ia &ia, Count length, StreamSet its_streams, Cno *to);
    ~Evd() override; // requests for connections that are still queued are refused

    // Queues an event. If the queue is full, drops the event, marks the Evd dead, reports an
    // overflow to the Ia's async EVD, and returns false: the caller must break the connection that
    // lost the event.
    bool deliver(const Arrival &arrival) noexcept {
        if (!has_room()) [[unlikely]]
            return overflow(arrival.credit);
        queue_.push(arrival, handle());
        if (waited || cno)
            alert(arrival.notifies);
        return true;
    }
    bool deliver(const Completion &completion) noexcept {
        if (!has_room()) [[unlikely]]
            return overflow(completion.credit);
        queue_.push(completion, handle());
        if (waited || cno)
            alert(completion.notifies());
        return true;
    }
    [[nodiscard]] bool has_room() const noexcept { return !dead_ && !queue_.full(); }
    [[nodiscard]] bool accepts(Stream stream) const noexcept {
        return (streams & set_of(stream)) != 0;
    }
    // Drops the queued events of one owner (an EP that is freed).
    void purge(Handle owner) noexcept { queue_.purge(owner); }
    // Drops its completions, and keeps the events of its connection (an EP that is reset).
    void drop_completions(Handle owner) noexcept { queue_.drop_completions(owner); }
    // Keeps the events of one owner, but clears their owner (an EP that moves to another EVD).
    void disown(Handle owner) noexcept { queue_.disown(owner); }

    // Keeps them, without the private data of one owner (an EP that is reset).
    void drop_private_data(Handle owner) noexcept { queue_.drop_private_data(owner); }

    // Drops the requests for connections that belong to an Ia which is closing.
    void drop_requests_of(const Ia &closing) noexcept { queue_.drop_requests_of(closing.lock); }

    // The API's operations; `guard` holds Ia::lock. dequeue() polls the feeders if the queue is
    // empty: a peer need not wake a program that polls. The event is good until the lock is given
    // up.
    Status dequeue(const Event *&event) noexcept {
        if (waited) [[unlikely]]
            return Status::EVD_HAS_WAITER;
        looked_at = true;
        if (queue_.count() == 0)
            poll();
        if (queue_.count() == 0)
            return dead_ ? Status::WRONG_STATE : Status::QUEUE_EMPTY;
        event = &queue_.pop();
        return Status::OK;
    }
    Status wait(Guard &guard, Timeout timeout, Count threshold, const Event *&event,
                Count &more) noexcept;
    Status post_software(void *pointer) noexcept;
    Status resize(Count length);
    void set_cno(Cno *other); // throws std::bad_alloc
    void enable(bool on) noexcept;
    void set_waitable(bool on) noexcept;
    void abort_waiter() noexcept; // the Ia is closing

    // EPs that are polled by dequeue and wait. An EP may be added more than once (several roles).
    void add_feeder(Feeder &feeder) { feeders_.add(feeder); }
    void remove_feeder(Feeder &feeder) noexcept { feeders_.remove(feeder); }
    // Polls the feeders for events. `again`: the caller will poll again soon, so peers need not
    // ring.
    void poll(bool again = true) noexcept { feeders_.poll(again); }
    [[nodiscard]] bool has_feeders() const noexcept { return !feeders_.empty(); }

    [[nodiscard]] bool enabled() const noexcept { return enabled_; }
    [[nodiscard]] bool waitable() const noexcept { return waitable_; }
    [[nodiscard]] Count length() const noexcept { return queue_.length(); }
    // True if there are events to report to a waiter of the CNO.
    [[nodiscard]] bool triggers() const noexcept { return !waited && has_notifying(); }
    // The same. If a waiter hides such events, the CNO is told of those that the waiter leaves.
    [[nodiscard]] bool triggers_or_will() noexcept {
        untold_ |= waited && has_notifying();
        return triggers();
    }

    // References of streams: EPs (each role), PSPs, RSPs, Ias. Not freed while there are any.
    int users = 0;
    // How many attached streams are UNSIGNALLED and SOLICITED_WAIT: see udapl-functions.md 6.2.
    int notify_streams = 0;
    int solicited_streams = 0;
    const StreamSet streams; // that it accepts
    Cno *cno = nullptr;
    bool waited = false;
    // A program has called dequeue() since the transport cleared this.
    bool looked_at = false;
    // The CNO's: how often its agent has yet to be called for this Evd.
    unsigned agent_calls = 0;

  private:
    struct Wait;
    [[nodiscard]] bool has_notifying() const noexcept {
        return enabled_ && queue_.notifying() > 0;
    }
    bool overflow(int *credit) noexcept; // false
    void alert(bool notifies) noexcept;
    void wake_waiter() noexcept;
    void trigger() noexcept;
    [[nodiscard]] Status may_wait(Count threshold) const noexcept;
    [[nodiscard]] bool satisfied() const noexcept;
    [[nodiscard]] Status disturbance() const noexcept;
    Status await(Wait &wait) noexcept;
    Status last_look() noexcept;
    Futex::Wake sleep(Wait &wait) noexcept;

    EventQueue queue_;
    Feeders feeders_;
    Futex futex_;
    SpinPolicy spin_policy_;
    bool dead_ = false;
    bool enabled_ = true;
    bool waitable_ = true;
    bool aborted_ = false;
    bool asleep_ = false;   // the waiter sleeps
    bool untold_ = false;   // the waiter hides an event from the CNO, and may leave it
    // Enough events were there when the waiter came, or a notification has come since.
    bool notified_ = false;
    Count threshold_ = 1;   // the number of events that the waiter wants
};

} // namespace rsmengine
