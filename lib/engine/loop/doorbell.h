// SPDX-License-Identifier: MIT
// The part of a transport by which a peer or a device wakes the engine's thread.
#pragma once

namespace rsmdat {

// While somebody polls it is disarmed, and nobody rings. The transport tells the engine of that
// (Engine::disarmed), and the engine arms it before a thread sleeps.
class Doorbell {
  public:
    // From now on it rings. The engine polls the Feeder once more afterwards. Ia::lock held.
    virtual void arm() noexcept = 0;

    bool recently_polled = false; // set by the transport when somebody polls, cleared by the engine
    bool looked_after = false;    // the engine's: it is among the disarmed ones

  protected:
    ~Doorbell() = default;
};

} // namespace rsmdat
