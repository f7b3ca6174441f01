// SPDX-License-Identifier: MIT
// Service points (PSP, RSP) and the requests (CR) that they get.
#pragma once

#include "engine/connect/ep.h"
#include "engine/core/status.h"
#include "engine/core/types.h"

namespace rsmengine {

// Base of the public and the reserved service point: both listen.
class Cr;

class Sp : public Object {
  public:
    ~Sp() override;

    [[nodiscard]] bool listening() const noexcept { return listener_ != nullptr; }
    [[nodiscard]] ServicePointListener *listener() const noexcept { return listener_.get(); }
    // Takes requests from now on, and the listener; leaves the listener, stopped, where it is if
    // something throws: then the caller destroys it without Ia::lock, and the service point.
    void listen(std::unique_ptr<ServicePointListener> &listener);
    // Takes a request, which leads to a CR and its event, or refuses the request.
    void take(std::unique_ptr<Link> link, std::span<const std::byte> private_data) noexcept;
    // Takes no more requests. Stops the listener, if there is one, and returns it; the caller
    // destroys it without Ia::lock (service_point_listener.h).
    [[nodiscard]] std::unique_ptr<ServicePointListener> stop_listening() noexcept;
    // Takes no more requests if its EVD is one of those.
    void leave_evds_of(const Ia &closing) noexcept override;

    Qualifier qualifier;
    Evd *evd; // null: it has gone

  protected:
    Sp(ObjectKind kind, Ia &ia, Qualifier qualifier, Evd &evd);
    // Makes the CR and its event. Refuses the request if memory is short.
    void present(std::unique_ptr<Link> link, std::span<const std::byte> private_data) noexcept;

  private:
    // Returns the Ep that a request is to use, if any.
    virtual Ep *endpoint(const Link &link) = 0;
    // A request has come, and the requester knows that this service point has it.
    virtual void received(std::unique_ptr<Link> link,
                          std::span<const std::byte> private_data) noexcept = 0;

    void announce(Cr &cr) noexcept;
    void leave_evd() noexcept;

    std::unique_ptr<ServicePointListener> listener_;
};

class Psp final : public Sp {
  public:
    static constexpr ObjectKind KIND = ObjectKind::PSP;

    Psp(Ia &ia, Qualifier qualifier, Evd &evd, EndpointsBy endpoints);

    EndpointsBy endpoints;

  private:
    Ep *endpoint(const Link &link) override;
    void received(std::unique_ptr<Link> link,
                  std::span<const std::byte> private_data) noexcept override {
        present(std::move(link), private_data);
    }
};

// Takes one request. A consumer that gets its event may use the qualifier again: so the request
// waits here until the listener has ended, which another thread does.
class Rsp final : public Sp {
  public:
    static constexpr ObjectKind KIND = ObjectKind::RSP;

    // Reserves the Ep. Without an Ep the request gets a new one, as for a PSP.
    Rsp(Ia &ia, Qualifier qualifier, Ep *ep, Evd &evd);
    ~Rsp() override;

    Ep *ep = nullptr; // none yet, or freed

    // The Rsp of a handle when no end of its listener is under way any more: until then this waits
    // without the lock that `guard` holds. Null if the Rsp has been freed meanwhile.
    static Rsp *settled(Handle rsp, Ia &ia, Guard &guard) noexcept;

  private:
    class ListenerEnd;
    void reserve(Ep &its_ep) noexcept;
    Ep *endpoint(const Link &link) override;
    void received(std::unique_ptr<Link> link,
                  std::span<const std::byte> private_data) noexcept override;
    void listener_ended() noexcept;

    std::unique_ptr<ListenerEnd> end_; // null when it is under way or over
    std::unique_ptr<Link> request_;    // waits for that end
    std::vector<std::byte> private_data_;
};

class Cr final : public Object {
  public:
    static constexpr ObjectKind KIND = ObjectKind::CR;

    // Has no link yet. Throws std::bad_alloc.
    Cr(Ia &ia, std::span<const std::byte> private_data);
    ~Cr() override; // refuses unless it was answered
    void take_ep(Ep *ep) noexcept;

    // The answers. The caller passes the Cr to Ia::destroy() afterwards, unless accept() has
    // failed. Throws std::bad_alloc.
    Status accept(Ep &with, std::span<const std::byte> answer);
    void reject() noexcept;
    void hand_off(Sp *to) noexcept; // null: nobody is there

    std::unique_ptr<Link> link;
    std::vector<std::byte> private_data;
    Ep *ep = nullptr; // of the service point's; null: the consumer brings one

  private:
    void release_ep() noexcept;
};

} // namespace rsmengine
