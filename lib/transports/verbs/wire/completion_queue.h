// SPDX-License-Identifier: MIT
// The completions of all endpoints that share an EVD: one completion queue, so that the events come
// in the order in which the device finished the work, whichever endpoint it was given to. A thread
// that is about to sleep arms the queue: then the next completion makes the descriptor of the IA's
// completion channel ready.
//
// Ia::lock is held in all functions.
#pragma once

#include "engine/event/feeders.h"
#include "engine/loop/doorbell.h"
#include "wire/rdma_device.h"

#include <array>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>

namespace rsmengine {

class Engine;
class Evd;
class Srq;

class CompletionQueue final : public Doorbell, public Feeder {
  public:
    // An endpoint, known by the number of its queue pair.
    class Owner {
      public:
        virtual void completed(const ibv_wc &completion) noexcept = 0;
        virtual void failed() noexcept = 0; // there will be no more completions
        [[nodiscard]] virtual bool has_listeners() const noexcept = 0;
        // Has the program looked for events since the last call?
        [[nodiscard]] virtual bool was_looked_at() noexcept = 0;

      protected:
        ~Owner() = default;
    };

    // The most completions that an endpoint can have in the queue at a time. Receives of an SRQ
    // count once, however many endpoints of the channel use the SRQ.
    struct Room {
        int entries;
        const Srq *srq;
        int shared; // completions of the SRQ's receives
    };

    // A place in the queue, for as long as it exists.
    class Place {
      public:
        Place() = default;
        Place(CompletionQueue &channel, const Room &room) noexcept
            : channel_(&channel), room_(room) {}
        Place(Place &&other) noexcept
            : channel_(std::exchange(other.channel_, nullptr)), room_(other.room_) {}
        Place &operator=(Place &&other) noexcept {
            std::swap(channel_, other.channel_);
            std::swap(room_, other.room_);
            return *this;
        }
        Place(const Place &) = delete;
        Place &operator=(const Place &) = delete;
        ~Place() {
            if (channel_ != nullptr)
                channel_->release(room_);
        }
        [[nodiscard]] CompletionQueue *operator->() const noexcept { return channel_; }
        [[nodiscard]] CompletionQueue &operator*() const noexcept { return *channel_; }
        explicit operator bool() const noexcept { return channel_ != nullptr; }
        // Gives up the room but keeps using the queue: no more completions will come.
        void vacate() noexcept {
            if (channel_ != nullptr)
                channel_->vacate(std::exchange(room_, {}));
        }
        [[nodiscard]] bool same_queue(const Place &other) const noexcept {
            return channel_ == other.channel_;
        }

      private:
        CompletionQueue *channel_ = nullptr;
        Room room_{};
    };

    // A queue for at least so many completions. queue() is null, and errno is set, if there is
    // none.
    CompletionQueue(Engine &engine, const RdmaDevice &device, int size) noexcept;
    ~CompletionQueue();
    CompletionQueue(const CompletionQueue &) = delete;
    CompletionQueue &operator=(const CompletionQueue &) = delete;

    // Reserves a place; lengthens the queue if that is necessary. Empty if the device has no room;
    // throws std::bad_alloc.
    [[nodiscard]] Place reserve(const Room &room);
    [[nodiscard]] bool used() const noexcept { return users_ > 0; }
    [[nodiscard]] ibv_cq *queue() const noexcept { return queue_; }

    // Between add() and remove() the owner gets the completions of that queue pair. add() throws
    // std::bad_alloc.
    void add(std::uint32_t queue_pair, Owner &owner);
    void remove(std::uint32_t queue_pair) noexcept;

    // Gives everything that has completed to the owners, in its order. An owner may call it again.
    void take_all() noexcept;

    // Feeder: the engine polls a queue that other threads poll, too.
    void poll(bool /*again*/) noexcept override { take_all(); }
    [[nodiscard]] bool has_listeners() const noexcept override;

    // A thread polls: the queue need not wake the engine meanwhile.
    void disarm() noexcept;
    // Completions that are already in the queue cause no wake-up: call take_all() afterwards.
    void arm() noexcept override;
    // This queue has made the completion channel ready.
    void woken() noexcept;
    // The queue has failed; notifies the owners.
    void failed() noexcept;

  private:
    static constexpr std::size_t BATCH = 16; // completions that are taken at a time

    void vacate(const Room &room) noexcept;
    void release(const Room &room) noexcept;
    [[nodiscard]] bool grow_to(int size) noexcept;
    void refill() noexcept;
    [[nodiscard]] bool was_looked_at() noexcept;
    [[nodiscard]] Owner *owner_of(std::uint32_t queue_pair) noexcept;

    Engine &engine_;
    ibv_cq *queue_;
    int size_;
    const int most_; // the device's limit for the length
    int reserved_ = 0;
    int users_ = 0;
    bool armed_ = false;
    std::map<const Srq *, int> srqs_; // number of places for the receives of each SRQ
    std::unordered_map<std::uint32_t, Owner *> owners_;
    std::uint32_t last_pair_ = 0; // the queue pair of the last search for an owner
    Owner *last_owner_ = nullptr;
    // Taken from the queue, and not yet given to their owners: [next_, taken_).
    std::array<ibv_wc, BATCH> batch_{};
    std::size_t next_ = 0;
    std::size_t taken_ = 0;
};

// The channels of an Ia.
class CompletionQueues {
  public:
    explicit CompletionQueues(const RdmaDevice &device) noexcept : device_(device) {}

    // A place in the channel of an EVD, or of the endpoints without one (null). An EVD has a second
    // channel only when the first would be longer than the device's limit; the events of both come
    // in no certain order then. None, and errno, if the device has no more. Throws std::bad_alloc.
    [[nodiscard]] CompletionQueue::Place get(Engine &engine, const Evd *evd,
                                             const CompletionQueue::Room &room);
    // Gives everything that has completed for the EVD to the owners.
    void take_all(const Evd *evd) noexcept;

  private:
    void drop_unused() noexcept;

    const RdmaDevice &device_;
    std::unordered_multimap<const Evd *, std::unique_ptr<CompletionQueue>> channels_;
};

} // namespace rsmengine
