// SPDX-License-Identifier: MIT
// A queue pair in state INIT: what an endpoint's attributes ask for.
#pragma once

#include "engine/core/types.h"
#include "wire/completion_queue.h"

#include <memory>

namespace rsmengine {

class Ep;

// The capacity of a queue pair.
struct QueueSizes {
    std::uint32_t requests;
    std::uint32_t receives; // 0 with an SRQ
    std::uint32_t request_pieces;
    std::uint32_t receive_pieces;
};

inline std::uint32_t at_least_one(Count count) noexcept {
    return count > 1 ? static_cast<std::uint32_t>(count) : 1;
}

constexpr std::uint32_t PINGS = 1; // entries for pings, beside the consumer's requests

// Where the completions of requests and receives go. Without a second place all go to the first.
struct CompletionPlaces {
    CompletionQueue::Place requests;
    CompletionQueue::Place receives;

    [[nodiscard]] ibv_cq &request_queue() const noexcept { return *requests->queue(); }
    [[nodiscard]] ibv_cq &receive_queue() const noexcept {
        return receives ? *receives->queue() : request_queue();
    }
    void take_all() const noexcept {
        requests->take_all();
        if (receives)
            receives->take_all();
    }
    // Frees the room in the completion queues for other endpoints; the places stay.
    void vacate() noexcept {
        requests.vacate();
        receives.vacate();
    }
};

// A queue pair ends in two steps: stop() and reset() make the device leave it alone, which waits
// for no peer, and after close() another thread destroys it: that may wait until a peer has
// answered (iWARP) or until the engine has acknowledged events.
class QueuePair {
  public:
    QueuePair() noexcept;
    ~QueuePair();

    // False, and errno, if it can't be had; then there is none. Throws std::bad_alloc.
    [[nodiscard]] bool open(Ep &ep, const CompletionPlaces &places, const QueueSizes &sizes);
    // Stops the device, which then reports all outstanding work as flushed.
    void stop() noexcept;
    // After this the device accesses no memory of the program. Completions stay in their queues.
    // True if no more completions will come.
    [[nodiscard]] bool reset() noexcept;
    // Gives the queue pair to another thread, which destroys it and then gives up the places.
    void close(Engine &engine, CompletionPlaces places) noexcept;

    [[nodiscard]] ibv_qp &operator*() const noexcept;
    explicit operator bool() const noexcept { return inside_ != nullptr; }
    // Messages up to this length need not be in registered memory.
    [[nodiscard]] std::uint32_t inline_limit() const noexcept { return inline_limit_; }

  private:
    class Inside;
    std::unique_ptr<Inside> inside_;
    std::uint32_t inline_limit_ = 0;
};

} // namespace rsmengine
