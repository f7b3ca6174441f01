// SPDX-License-Identifier: MIT
// The provider's half of an Ep's state machine: how it gets a link, and how that ends.
#pragma once

#include "connect/greeting.h"
#include "connect/link.h"
#include "engine/connect/endings.h"
#include "engine/event/feeders.h"

#include <memory>
#include <span>

namespace rsmdat {

class Ep;

class Connector final : public Feeder {
  public:
    explicit Connector(Ep &ep) noexcept : ep_(ep) {}

    // Asks at an address, or where another connection goes; the outcome comes as an event.
    // DAT_SUCCESS or the post's error. Throws std::bad_alloc, and nothing has happened then.
    DAT_RETURN connect(const sockaddr_storage &remote, DAT_CONN_QUAL qualifier, DAT_TIMEOUT timeout,
                       std::span<const std::byte> private_data);
    DAT_RETURN connect_like(const Link &model, DAT_TIMEOUT timeout,
                            std::span<const std::byte> private_data);
    // Takes over a request's link and accepts. DAT_SUCCESS or the accept's error; throws
    // std::bad_alloc. Without success the link is left.
    DAT_RETURN accept(std::unique_ptr<Link> &from, std::span<const std::byte> private_data);

    // The Ep's: its link, which is not established, or which has ended, goes.
    void give_up() noexcept;
    void hang_up(Ending ending) noexcept;

    // Feeder: polled by an EVD's dequeue and wait.
    void poll(bool again) noexcept override;
    [[nodiscard]] bool has_listeners() const noexcept override;

    // The link's: what its identifier hears.
    void happened(const Happening &event) noexcept;
    // The queue pair has got data although the connection manager does not know yet.
    void communication_established() const noexcept;

  private:
    DAT_RETURN start(std::unique_ptr<Link> &from, DAT_TIMEOUT timeout, DAT_EVENT_NUMBER late);
    [[nodiscard]] std::unique_ptr<Link> make_link() const;
    void resolve() noexcept;
    void set_up_active(const Happening &event) noexcept;
    void set_up_passive(const Happening &event) noexcept;
    void carry_on(const Happening &event) noexcept;
    void find_route() noexcept;
    void request() noexcept;
    void answered(const Happening &event) noexcept;
    [[nodiscard]] bool answer(const Greeting &greeting) const noexcept;
    [[nodiscard]] bool bring_up() const noexcept;
    void establish(std::span<const std::byte> private_data) noexcept;
    void drop_link() noexcept;
    void ask_soon() noexcept;

    Ep &ep_;
    Greeting greeting_{{}}; // ours, until the request is sent
    unsigned polls_ = 0;
    Engine::Alarm question_ = 0; // whether the peer is there
};

} // namespace rsmdat
