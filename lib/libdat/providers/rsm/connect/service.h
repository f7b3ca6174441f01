// SPDX-License-Identifier: MIT
// Service points (PSP, RSP), the segments in which each hears of requests, and the requests (CR).
#pragma once

#include "connect/ep.h"
#include "connect/listener.h"

namespace rsmdat {

// Public and reserved service point alike; a base because both listen.
class Cr;

class Sp : public Object, public Source {
  public:
    ~Sp() override;

    void ready(std::uint32_t events) noexcept override;
    [[nodiscard]] bool listening() const noexcept { return listening_; }
    // A request for us: a CR and its event, or a refusal.
    void take(std::unique_ptr<Link> link, const Terms &offer) noexcept;

    DAT_CONN_QUAL qualifier;
    Evd *evd;

  protected:
    Sp(DAT_HANDLE_TYPE kind, Ia &ia, DAT_CONN_QUAL qualifier, Evd &evd, Listener listener);
    void stop_listening() noexcept;

  private:
    // The Ep that a request comes with, if any.
    virtual Ep *endpoint(const Link &link) = 0;
    // A request was put on the EVD.
    virtual void arrived() noexcept {}

    void announce(Cr &cr) noexcept;

    Listener listener_;
    bool listening_ = true;
};

class Psp final : public Sp {
  public:
    static constexpr DAT_HANDLE_TYPE KIND = DAT_HANDLE_TYPE_PSP;

    Psp(Ia &ia, DAT_CONN_QUAL qualifier, Evd &evd, DAT_PSP_FLAGS flags, Listener listener);

    DAT_PSP_FLAGS flags;

  private:
    Ep *endpoint(const Link &link) override;
};

class Rsp final : public Sp {
  public:
    static constexpr DAT_HANDLE_TYPE KIND = DAT_HANDLE_TYPE_RSP;

    // Reserves the Ep. Without one the request comes with a new one, as for a PSP.
    Rsp(Ia &ia, DAT_CONN_QUAL qualifier, Ep *ep, Evd &evd, Listener listener);
    ~Rsp() override;

    Ep *ep = nullptr; // none yet, or freed

  private:
    void reserve(Ep &its_ep) noexcept;
    Ep *endpoint(const Link &link) override;
    void arrived() noexcept override;
};

class Cr final : public Object {
  public:
    static constexpr DAT_HANDLE_TYPE KIND = DAT_HANDLE_TYPE_CR;

    Cr(Ia &ia, std::unique_ptr<Link> link, const Terms &offer);
    ~Cr() override; // refuses unless it was answered
    void take_ep(Ep *ep) noexcept;

    // The answers. The Cr is good for Ia::destroy() then.
    void accept(Ep &with, std::span<const std::byte> private_data); // throws std::bad_alloc
    void reject() noexcept;
    void hand_off(Sp *to) noexcept; // null: nobody is there

    std::unique_ptr<Link> link;
    Terms offer;      // whose private data dat_cr_query shows
    Ep *ep = nullptr; // of the service point's; null: the consumer brings one

  private:
    void release_ep() noexcept;
};

// Ends a request that will not be accepted.
void refuse(Ia &ia, std::unique_ptr<Link> link, LinkState how) noexcept;

// As the interface wants them.
DAT_IA_ADDRESS_PTR address_pointer(const sockaddr_storage &address) noexcept;
DAT_IA_ADDRESS_PTR own_address_of(const Ia &ia) noexcept;

} // namespace rsmdat
