// SPDX-License-Identifier: MIT
// Event dispatchers: a queue of events, a waiter, and the streams that feed it.
#pragma once

#include "core/ia.h"
#include "event/futex.h"

#include <deque>
#include <vector>

namespace rsmdat {

class Cno;

// One event on its way to the consumer.
struct Arrival {
    DAT_EVENT event{};     // evd_handle is filled in by the Evd
    bool notifies = true;  // wakes waiters and triggers the CNO
    int *credit = nullptr; // counted down when the event is dequeued or dropped; lives as long as
                           // the object whose handle is `owner`
    DAT_HANDLE owner = nullptr; // EP it belongs to, for purge()
};

// Something whose progress may bring events: an EP with a live connection.
class Feeder {
  public:
    // Looks for work and does it. Ia::lock held. Must not destroy the Feeder or any Evd.
    virtual void poll() noexcept = 0;
    // Somebody is about to poll often: the peer need not ring. Cheap when it is so already.
    virtual void disarm() noexcept = 0;

  protected:
    ~Feeder() = default;
};

class Evd final : public Object {
  public:
    static constexpr DAT_HANDLE_TYPE KIND = DAT_HANDLE_TYPE_EVD;

    Evd(Ia &ia, DAT_COUNT length, DAT_EVD_FLAGS flags, Cno *cno);
    ~Evd() override;

    // Queues an event; on a full queue it is lost, the Evd is dead and the Ia's async EVD hears of it.
    void deliver(const Arrival &arrival) noexcept;
    [[nodiscard]] bool has_room() const noexcept;
    [[nodiscard]] bool accepts(DAT_EVD_FLAGS streams) const noexcept { return (flags & streams) != 0; }
    // Drops the queued events of one owner (an EP that is freed or reset).
    void purge(DAT_HANDLE owner) noexcept;

    // The API's operations; `guard` holds Ia::lock.
    DAT_RETURN dequeue(DAT_EVENT &event) noexcept;
    DAT_RETURN wait(Guard &guard, DAT_TIMEOUT timeout, DAT_COUNT threshold, DAT_EVENT &event,
                    DAT_COUNT &more);
    DAT_RETURN post_software(void *pointer) noexcept;
    DAT_RETURN resize(DAT_COUNT length);
    DAT_RETURN set_cno(Cno *cno) noexcept;
    void enable(bool on) noexcept;
    void set_waitable(bool on) noexcept;
    void abort_waiter(Guard &guard) noexcept; // returns when it has left

    // EPs that are polled by dequeue and wait. An EP may be added more than once (several roles).
    void add_feeder(Feeder &feeder);
    void remove_feeder(Feeder &feeder) noexcept;

    [[nodiscard]] DAT_EVD_STATE state() const noexcept;

    // References of streams: EPs (each role), PSPs, RSPs, the Ia. Not freed while there are any.
    int users = 0;
    // How many attached streams are UNSIGNALLED and SOLICITED_WAIT: see udapl-functions.md 6.2.
    int notify_streams = 0;
    int solicited_streams = 0;
    DAT_EVD_FLAGS flags;
    DAT_COUNT length;
    Cno *cno = nullptr;
    bool waited = false;

  private:
    // P1 decides
};

} // namespace rsmdat
