// SPDX-License-Identifier: MIT
// Contract (transport.h): how a service point gets requests.
#pragma once

namespace rsmengine {

class Sp;

// The listener occupies the qualifier from Transport::listen until it is destroyed.
class ServicePointListener {
  public:
    virtual ~ServicePointListener() = default;
    ServicePointListener(const ServicePointListener &) = delete;
    ServicePointListener &operator=(const ServicePointListener &) = delete;

    // From now on passes requests to Sp::take, which may destroy the listener. Called once; throws
    // std::bad_alloc.
    virtual void serve(Sp &sp) = 0;
    // Calls Sp::take no more. The caller destroys the listener afterwards, which frees the
    // qualifier, and preferably without Ia::lock, because the destructor may wait for other nodes.
    // A listener that was not stopped is destroyed with Ia::lock held.
    virtual void stop() noexcept = 0;

  protected:
    ServicePointListener() = default;
};

} // namespace rsmengine
