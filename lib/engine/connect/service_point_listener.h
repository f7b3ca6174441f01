// SPDX-License-Identifier: MIT
// Contract (transport.h): how a service point gets requests.
#pragma once

namespace rsmdat {

class Sp;

// It has the qualifier from Transport::listen on, until it ends. A peer that comes later finds
// nobody.
class ServicePointListener {
  public:
    virtual ~ServicePointListener() = default;
    ServicePointListener(const ServicePointListener &) = delete;
    ServicePointListener &operator=(const ServicePointListener &) = delete;

    // From now on requests go to Sp::take, which may end the listener. Called once; throws
    // std::bad_alloc.
    virtual void serve(Sp &sp) = 0;
    // Calls Sp::take no more. The caller ends the listener afterwards, best without Ia::lock,
    // because that may wait for other nodes; the qualifier is free then. A listener that was not
    // stopped ends with Ia::lock held.
    virtual void stop() noexcept = 0;

  protected:
    ServicePointListener() = default;
};

} // namespace rsmdat
