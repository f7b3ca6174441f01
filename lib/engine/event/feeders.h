// SPDX-License-Identifier: MIT
// Feeders: an EVD polls them for events.
#pragma once

#include <vector>

namespace rsmengine {

// Something whose progress may bring events: an EP with a live connection.
class Feeder {
  public:
    // Looks for work and does it. `again`: the caller will poll often, so the peer need not ring.
    // Ia::lock held. Must not destroy the Feeder or any Evd.
    virtual void poll(bool again) noexcept = 0;
    // True if a thread or an agent waits for the events, so that the engine must poll for it.
    [[nodiscard]] virtual bool has_listeners() const noexcept = 0;

  protected:
    ~Feeder() = default;
};

// Feeders come and go while they are polled: a connection may end then.
class Feeders {
  public:
    void add(Feeder &feeder);             // throws std::bad_alloc
    void remove(Feeder &feeder) noexcept; // one of as many as it was added
    void poll(bool again) noexcept;
    [[nodiscard]] bool empty() const noexcept { return all_.empty(); }

  private:
    struct Entry {
        Feeder *feeder;
        int times; // 0: gone while all were polled
    };
    [[nodiscard]] std::vector<Entry>::iterator find(const Feeder &feeder) noexcept;
    void sweep() noexcept;
    std::vector<Entry> all_;
    bool polling_ = false;
    bool gaps_ = false;
};

} // namespace rsmengine
