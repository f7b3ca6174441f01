// SPDX-License-Identifier: MIT
// The completions of an endpoint. A side that is about to sleep arms them: then the next one makes
// the descriptor of the IA's completion channel ready.
#pragma once

#include "wire/device.h"

#include <span>

namespace rsmdat {

class Channel {
  public:
    // Whose completions they are.
    class Owner {
      public:
        virtual void completed() noexcept = 0; // some may have come
        virtual void failed() noexcept = 0;    // none will any more

      protected:
        ~Owner() = default;
    };

    explicit Channel(Owner &owner) noexcept : owner_(owner) {}
    ~Channel();
    Channel(const Channel &) = delete;
    Channel &operator=(const Channel &) = delete;

    // Room for so many completions; what there was is lost. False, and errno, if it can't be had.
    [[nodiscard]] bool open(const Device &device, int capacity) noexcept;
    void close() noexcept; // nothing uses the queue any more
    [[nodiscard]] ibv_cq *queue() const noexcept { return queue_; }

    // The oldest completions; fewer than there is room for if there are no more.
    [[nodiscard]] std::span<const ibv_wc> take(std::span<ibv_wc> room) noexcept;

    // Must be followed by a look at the queue: what is there by then makes nothing ready.
    void arm() noexcept;
    void disarm() noexcept { armed_ = false; } // one wake-up too many may follow
    [[nodiscard]] bool armed() const noexcept { return armed_; }
    // The completion channel was made ready by this.
    void woken() noexcept;
    // The queue is of no use any more.
    void failed() noexcept { owner_.failed(); }

    // The engine's.
    bool looked_after = false;
    bool recently_polled = false;

  private:
    Owner &owner_;
    ibv_cq *queue_ = nullptr;
    bool armed_ = false;
};

} // namespace rsmdat
