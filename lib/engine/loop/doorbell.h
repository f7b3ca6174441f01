// SPDX-License-Identifier: MIT
// The part of a transport by which a peer or a device wakes the engine's thread.
#pragma once

namespace rsmengine {

// While a thread polls, the doorbell is disarmed, and peers do not ring. The transport reports that
// to the engine (Engine::disarmed), which arms the doorbell before a thread sleeps.
class Doorbell {
  public:
    // From now on peers ring. The engine polls the Feeder once more afterwards. Ia::lock held.
    virtual void arm() noexcept = 0;

    bool recently_polled = false; // set by the transport when a thread polls, cleared by the engine
    bool looked_after = false;    // used by the engine: in its list of disarmed doorbells

  protected:
    ~Doorbell() = default;
};

} // namespace rsmengine
