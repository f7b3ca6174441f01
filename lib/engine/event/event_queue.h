// SPDX-License-Identifier: MIT
// The events of an EVD: a ring of fixed size, so that nothing is allocated when one arrives.
#pragma once

#include "engine/core/object.h"
#include "engine/core/types.h"
#include "engine/event/event.h"

#include <memory>

namespace rsmengine {

// One event on its way to the consumer.
struct Arrival {
    Event event{};          // evd_handle is filled in by the Evd
    bool notifies = true;   // wakes waiters and triggers the CNO
    int *credit = nullptr;  // counted down when the event is dequeued or dropped; lives as long as
                            // the object whose handle is `owner`
    Handle owner = nullptr; // EP it belongs to, for purge()
};

// The completion of a transfer of an EP, on its way to the consumer.
struct Completion {
    Handle ep;
    Cookie cookie;
    CompletionStatus status;
    std::uint64_t length; // if it succeeded
    bool quiet;           // does not notify if it succeeded
    int *credit;          // as an Arrival's; lives as long as the EP

    [[nodiscard]] bool good() const noexcept { return status == CompletionStatus::OK; }
    [[nodiscard]] bool notifies() const noexcept { return !(good() && quiet); }
};

class EventQueue {
  public:
    explicit EventQueue(Count length); // throws std::bad_alloc

    [[nodiscard]] Count length() const noexcept { return length_; }
    [[nodiscard]] Count count() const noexcept { return count_; }
    [[nodiscard]] bool full() const noexcept { return count_ == length_; }
    // How many of them notify.
    [[nodiscard]] Count notifying() const noexcept { return notifying_; }

    // push: not full(). pop: count() > 0. Inline: each completion passes through both.
    void push(const Arrival &arrival, Handle evd) noexcept {
        Entry &entry = append();
        entry.event = arrival.event;
        entry.event.evd = evd;
        entry.credit = arrival.credit;
        entry.owner = arrival.owner;
        entry.notifies = arrival.notifies;
        notifying_ += arrival.notifies;
    }
    void push(const Completion &completion, Handle evd) noexcept {
        Entry &entry = append();
        entry.event.kind = EventKind::TRANSFER;
        entry.event.evd = evd;
        entry.event.transfer = {completion.ep, completion.cookie, completion.status,
                                completion.good() ? completion.length : 0};
        entry.credit = completion.credit;
        entry.owner = completion.ep;
        entry.notifies = completion.notifies();
        notifying_ += entry.notifies;
    }
    // The event lies in the queue until something else is done to that.
    [[nodiscard]] const Event &pop() noexcept {
        const Entry &entry = entries_[static_cast<std::size_t>(first_)];
        forget(entry);
        first_ = first_ + 1 == length_ ? 0 : first_ + 1;
        --count_;
        return entry.event;
    }
    // Drops an owner's events.
    void purge(Handle owner) noexcept;
    // Drops an owner's completions of transfers and binds.
    void drop_completions(Handle owner) noexcept;
    // Keeps an owner's events, but clears their owner.
    void disown(Handle owner) noexcept;
    // Clears the pointers to private data in connection events of an owner, which is about to free
    // that data.
    void drop_private_data(Handle owner) noexcept;
    void clear() noexcept;
    // Removes and returns a connection request that has not been dequeued; null if there is none.
    Handle take_request() noexcept;
    // Drops the requests whose service point belongs to the Ia of this lock, which is closing.
    void drop_requests_of(const Lock &lock) noexcept;
    // Moves the events into a queue of another length, which must have room for them.
    void resize(Count length);

  private:
    // It has no initializers, so that an empty queue does not touch the memory of its entries.
    struct Entry {
        Event event;
        int *credit;
        Handle owner;
        bool notifies;
    };

    // Counted from the first.
    [[nodiscard]] Entry &at(Count place) const noexcept {
        const Count to_end = length_ - first_;
        return entries_[static_cast<std::size_t>(place < to_end ? first_ + place : place - to_end)];
    }
    Entry &append() noexcept { return at(count_++); }
    // Updates the counts for an entry that is dequeued or dropped.
    void forget(const Entry &entry) noexcept {
        return_credit(entry);
        notifying_ -= entry.notifies;
    }
    static void return_credit(const Entry &entry) noexcept {
        if (entry.credit)
            --*entry.credit;
    }
    template <class Keep>
    void filter(Keep keep) noexcept;

    Count length_;
    Count first_ = 0;
    Count count_ = 0;
    Count notifying_ = 0;
    std::unique_ptr<Entry[]> entries_;
};

} // namespace rsmengine
