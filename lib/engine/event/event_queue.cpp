// SPDX-License-Identifier: MIT
#include "engine/event/event_queue.h"

#include <type_traits>

namespace rsmengine {

EventQueue::EventQueue(Count length)
    : length_(length),
      entries_(std::make_unique_for_overwrite<Entry[]>(static_cast<std::size_t>(length))) {
    static_assert(std::is_trivially_default_constructible_v<Entry>);
}

// Keeps the events for which `keep` returns true, in their order.
template <class Keep>
void EventQueue::filter(Keep keep) noexcept {
    const Count before = count_;
    count_ = 0;
    for (Count place = 0; place < before; ++place) {
        const Entry entry = at(place);
        if (keep(entry))
            append() = entry;
        else
            forget(entry);
    }
}

void EventQueue::purge(Handle owner) noexcept {
    filter([owner](const Entry &entry) { return entry.owner != owner; });
}

void EventQueue::drop_completions(Handle owner) noexcept {
    filter([owner](const Entry &entry) {
        const EventKind kind = entry.event.kind;
        return entry.owner != owner || (kind != EventKind::TRANSFER && kind != EventKind::BIND);
    });
}

void EventQueue::clear() noexcept {
    filter([](const Entry &) { return false; });
}

void EventQueue::disown(Handle owner) noexcept {
    for (Count place = 0; place < count_; ++place) {
        Entry &entry = at(place);
        if (entry.owner != owner)
            continue;
        return_credit(entry);
        entry.credit = nullptr;
        entry.owner = nullptr;
    }
}

void EventQueue::drop_private_data(Handle owner) noexcept {
    for (Count place = 0; place < count_; ++place) {
        Entry &entry = at(place);
        if (entry.owner != owner || entry.event.kind != EventKind::ESTABLISHED)
            continue;
        auto &data = entry.event.connection;
        data.size = 0;
        data.private_data = nullptr;
    }
}

Handle EventQueue::take_request() noexcept {
    Handle request = nullptr;
    filter([&request](const Entry &entry) {
        if (request || entry.event.kind != EventKind::REQUEST)
            return true;
        request = entry.event.request.request;
        return false;
    });
    return request;
}

void EventQueue::drop_requests_of(const Lock &lock) noexcept {
    filter([&lock](const Entry &entry) {
        if (entry.event.kind != EventKind::REQUEST)
            return true;
        const HandleCell *cell = find_cell(entry.event.request.request);
        return cell == nullptr || cell->lock.load(std::memory_order_acquire) != &lock;
    });
}

void EventQueue::resize(Count length) {
    EventQueue other(length);
    for (Count place = 0; place < count_; ++place)
        other.append() = at(place);
    other.notifying_ = notifying_;
    *this = std::move(other);
}

} // namespace rsmengine
