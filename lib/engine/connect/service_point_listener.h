// SPDX-License-Identifier: MIT
// Contract (transport.h): how a service point gets requests.
#pragma once

#include "engine/loop/job.h"

namespace rsmengine {

class Sp;

// The listener occupies the qualifier from Transport::listen until it is destroyed: without
// Ia::lock and not on the engine's thread, because the destructor may wait for other nodes, and
// after stop(), unless serve() was never called.
class ServicePointListener : public Job {
  public:
    // From now on passes requests to Sp::take, which may stop the listener; its destructor runs
    // when Ia::lock is free. Called once; throws std::bad_alloc.
    virtual void serve(Sp &sp) = 0;
    // Calls Sp::take no more.
    virtual void stop() noexcept = 0;
};

} // namespace rsmengine
