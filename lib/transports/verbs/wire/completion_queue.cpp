// SPDX-License-Identifier: MIT
#include "wire/completion_queue.h"

#include "device/uncancelled.h"
#include "engine/event/evd.h"
#include "engine/loop/engine.h"

#include <algorithm>
#include <cerrno>
#include <utility>

namespace rsmengine {

CompletionQueue::CompletionQueue(Engine &engine, const RdmaDevice &device, int size) noexcept
    : engine_(engine),
      queue_(::ibv_create_cq(&device.context(), size, this, &device.completions(), 0)), size_(size),
      most_(device.attributes().max_cqe) {}

// No endpoint uses it, so the engine does not watch it.
CompletionQueue::~CompletionQueue() {
    if (queue_ != nullptr)
        (void)::ibv_destroy_cq(queue_);
}

CompletionQueue::Place CompletionQueue::reserve(const Room &room) {
    int wanted = reserved_ + room.entries;
    int *users = nullptr;
    if (room.srq != nullptr) {
        users = &srqs_[room.srq];
        wanted += *users == 0 ? room.shared : 0;
    }
    // The first endpoint gets the longest queue of the device even if it asks for more.
    if (!grow_to(users_ == 0 ? std::min(wanted, most_) : wanted)) {
        std::erase_if(srqs_, [](const auto &entry) { return entry.second == 0; });
        return {};
    }
    if (users != nullptr)
        ++*users;
    reserved_ = wanted;
    ++users_;
    return {*this, room};
}

void CompletionQueue::vacate(const Room &room) noexcept {
    reserved_ -= room.entries;
    if (room.srq != nullptr && --srqs_[room.srq] == 0) {
        srqs_.erase(room.srq);
        reserved_ -= room.shared;
    }
}

void CompletionQueue::release(const Room &room) noexcept {
    vacate(room);
    if (--users_ > 0)
        return;
    armed_ = false;
    engine_.gone(*this);
}

bool CompletionQueue::grow_to(int size) noexcept {
    if (size <= size_)
        return true;
    const int larger = std::min(std::max(size, size_ <= most_ / 2 ? 2 * size_ : most_), most_);
    if (size > most_ || ::ibv_resize_cq(queue_, larger) != 0)
        return false;
    size_ = larger;
    return true;
}

void CompletionQueue::add(std::uint32_t queue_pair, Owner &owner) {
    owners_[queue_pair] = &owner;
    last_owner_ = nullptr;
}

void CompletionQueue::remove(std::uint32_t queue_pair) noexcept {
    owners_.erase(queue_pair);
    last_owner_ = nullptr;
}

// Null for a queue pair that has been destroyed.
CompletionQueue::Owner *CompletionQueue::owner_of(std::uint32_t queue_pair) noexcept {
    if (last_owner_ != nullptr && last_pair_ == queue_pair)
        return last_owner_;
    const auto found = owners_.find(queue_pair);
    if (found == owners_.end())
        return nullptr;
    last_pair_ = queue_pair;
    last_owner_ = found->second;
    return last_owner_;
}

// A queue cannot be read any more only if the device has gone, which the Ia learns by an async
// event.
void CompletionQueue::refill() noexcept {
    const int count = ::ibv_poll_cq(queue_, static_cast<int>(batch_.size()), batch_.data());
    taken_ = count > 0 ? static_cast<std::size_t>(count) : 0;
    next_ = 0;
}

// This ends: no more completions can come than were outstanding when the caller took Ia::lock. If
// an owner calls this from completed(), the inner call takes the rest of the batch first.
void CompletionQueue::take_all() noexcept {
    bool more = true;
    while (more) {
        if (next_ == taken_)
            refill();
        more = taken_ == batch_.size();
        while (next_ < taken_) {
            const ibv_wc completion = batch_[next_++];
            if (Owner *owner = owner_of(completion.qp_num))
                owner->completed(completion);
        }
    }
}

bool CompletionQueue::has_listeners() const noexcept {
    return std::ranges::any_of(owners_,
                               [](const auto &entry) { return entry.second->has_listeners(); });
}

void CompletionQueue::arm() noexcept {
    if (armed_)
        return;
    const rsmdev::Uncancelled uncancelled; // rxe: a system call
    armed_ = ::ibv_req_notify_cq(queue_, 0) == 0;
}

// A spurious wake-up may follow.
void CompletionQueue::disarm() noexcept {
    recently_polled = true;
    if (std::exchange(armed_, false))
        engine_.disarmed(*this, *this);
}

bool CompletionQueue::was_looked_at() noexcept {
    bool looked_at = false;
    for (const auto &entry : owners_)
        looked_at = entry.second->was_looked_at() || looked_at;
    return looked_at;
}

// The event may date from before the queue was disarmed; then the queue stays disarmed. A program
// that looks later than its completions come finds what the engine's thread has taken, polls
// nothing itself and so never disarms the queue: each completion would wake that thread. So the
// queue is not armed again for a program that looks and does not wait.
void CompletionQueue::woken() noexcept {
    if (std::exchange(armed_, false)) {
        if (was_looked_at() && !has_listeners())
            engine_.disarmed(*this, *this);
        else
            arm();
    }
    take_all();
}

// Each owner removes itself when it is notified.
void CompletionQueue::failed() noexcept {
    while (!owners_.empty()) {
        const auto first = owners_.begin();
        Owner &owner = *first->second;
        owners_.erase(first);
        last_owner_ = nullptr;
        owner.failed();
    }
}

// A new queue is at least as long as the EVD, so it seldom has to grow.
CompletionQueue::Place CompletionQueues::get(Engine &engine, const Evd *evd,
                                             const CompletionQueue::Room &room) {
    drop_unused();
    const auto [first, last] = channels_.equal_range(evd);
    for (auto channel = first; channel != last; ++channel)
        if (CompletionQueue::Place place = channel->second->reserve(room))
            return place;
    const int asked = std::max(room.entries + room.shared, evd != nullptr ? evd->length() : 0);
    const int size = std::clamp(asked, 1, device_.attributes().max_cqe);
    auto fresh = std::make_unique<CompletionQueue>(engine, device_, size);
    if (fresh->queue() == nullptr)
        return {};
    return channels_.emplace(evd, std::move(fresh))->second->reserve(room);
}

// An owner that ends during this gives up its place, but does not destroy the channel.
void CompletionQueues::take_all(const Evd *evd) noexcept {
    const auto [first, last] = channels_.equal_range(evd);
    for (auto channel = first; channel != last; ++channel)
        if (channel->second->used())
            channel->second->take_all();
}

// Called before a new queue is made, not when a queue loses its last user: the queue may be polled.
void CompletionQueues::drop_unused() noexcept {
    std::erase_if(channels_, [](const auto &entry) { return !entry.second->used(); });
}

} // namespace rsmengine
