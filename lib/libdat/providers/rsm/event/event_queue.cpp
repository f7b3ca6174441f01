// SPDX-License-Identifier: MIT
#include "event/event_queue.h"

#include <type_traits>

namespace rsmdat {

EventQueue::EventQueue(DAT_COUNT length)
    : length_(length),
      entries_(std::make_unique_for_overwrite<Entry[]>(static_cast<std::size_t>(length))) {
    static_assert(std::is_trivially_default_constructible_v<Entry>);
}

EventQueue::Entry &EventQueue::at(DAT_COUNT place) const noexcept {
    const DAT_COUNT to_end = length_ - first_;
    return entries_[static_cast<std::size_t>(place < to_end ? first_ + place : place - to_end)];
}

EventQueue::Entry &EventQueue::append() noexcept {
    return at(count_++);
}

void EventQueue::settle(const Entry &entry) noexcept {
    if (entry.credit)
        --*entry.credit;
}

// The entry leaves the queue, one way or another.
void EventQueue::forget(const Entry &entry) noexcept {
    settle(entry);
    notifying_ -= entry.notifies;
}

void EventQueue::push(const Arrival &arrival, DAT_HANDLE evd) noexcept {
    Entry &entry = append();
    entry.event = arrival.event;
    entry.event.evd_handle = evd;
    entry.credit = arrival.credit;
    entry.owner = arrival.owner;
    entry.notifies = arrival.notifies;
    notifying_ += arrival.notifies;
}

void EventQueue::pop(DAT_EVENT &event) noexcept {
    const Entry &entry = entries_[static_cast<std::size_t>(first_)];
    event = entry.event;
    forget(entry);
    first_ = first_ + 1 == length_ ? 0 : first_ + 1;
    --count_;
}

// Keeps those that `keep` wants, in their order.
template <class Keep>
void EventQueue::filter(Keep keep) noexcept {
    const DAT_COUNT before = count_;
    count_ = 0;
    for (DAT_COUNT place = 0; place < before; ++place) {
        const Entry entry = at(place);
        if (keep(entry))
            append() = entry;
        else
            forget(entry);
    }
}

void EventQueue::purge(DAT_HANDLE owner) noexcept {
    filter([owner](const Entry &entry) { return entry.owner != owner; });
}

void EventQueue::clear() noexcept {
    filter([](const Entry &) { return false; });
}

void EventQueue::disown(DAT_HANDLE owner) noexcept {
    for (DAT_COUNT place = 0; place < count_; ++place) {
        Entry &entry = at(place);
        if (entry.owner != owner)
            continue;
        settle(entry);
        entry.credit = nullptr;
        entry.owner = nullptr;
    }
}

DAT_CR_HANDLE EventQueue::take_request() noexcept {
    DAT_CR_HANDLE request = nullptr;
    filter([&request](const Entry &entry) {
        if (request || entry.event.event_number != DAT_CONNECTION_REQUEST_EVENT)
            return true;
        request = entry.event.event_data.cr_arrival_event_data.cr_handle;
        return false;
    });
    return request;
}

void EventQueue::resize(DAT_COUNT length) {
    EventQueue other(length);
    for (DAT_COUNT place = 0; place < count_; ++place)
        other.append() = at(place);
    other.notifying_ = notifying_;
    *this = std::move(other);
}

} // namespace rsmdat
