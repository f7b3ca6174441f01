// SPDX-License-Identifier: MIT
#include "engine/event/event_queue.h"

#include <type_traits>

namespace rsmdat {

EventQueue::EventQueue(DAT_COUNT length)
    : length_(length),
      entries_(std::make_unique_for_overwrite<Entry[]>(static_cast<std::size_t>(length))) {
    static_assert(std::is_trivially_default_constructible_v<Entry>);
}

// Keeps the events for which `keep` returns true, in their order.
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
        return_credit(entry);
        entry.credit = nullptr;
        entry.owner = nullptr;
    }
}

void EventQueue::drop_private_data(DAT_HANDLE owner) noexcept {
    for (DAT_COUNT place = 0; place < count_; ++place) {
        Entry &entry = at(place);
        if (entry.owner != owner || entry.event.event_number != DAT_CONNECTION_EVENT_ESTABLISHED)
            continue;
        auto &data = entry.event.event_data.connect_event_data;
        data.private_data_size = 0;
        data.private_data = nullptr;
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

void EventQueue::drop_requests_of(const Lock &lock) noexcept {
    filter([&lock](const Entry &entry) {
        if (entry.event.event_number != DAT_CONNECTION_REQUEST_EVENT)
            return true;
        const HandleCell *cell = find_cell(entry.event.event_data.cr_arrival_event_data.cr_handle);
        return cell == nullptr || cell->lock.load(std::memory_order_acquire) != &lock;
    });
}

void EventQueue::resize(DAT_COUNT length) {
    EventQueue other(length);
    for (DAT_COUNT place = 0; place < count_; ++place)
        other.append() = at(place);
    other.notifying_ = notifying_;
    *this = std::move(other);
}

} // namespace rsmdat
