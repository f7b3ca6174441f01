// SPDX-License-Identifier: MIT
// An Ep's way to a connected queue pair, and how that ends.
#pragma once

#include "connect/greeting.h"
#include "connect/link.h"
#include "engine/connect/connector.h"
#include "engine/core/own.h"
#include "engine/core/status.h"
#include "engine/core/types.h"
#include "engine/event/event.h"

#include <memory>
#include <span>

namespace rsmengine {

class VerbsConnector final : public Connector {
  public:
    explicit VerbsConnector(Ep &ep) noexcept : ep_(ep) {}

    Status connect(const sockaddr_storage &remote, Qualifier qualifier, Timeout timeout,
                   std::span<const std::byte> private_data) override;
    Status connect_like(const Link &model, Timeout timeout,
                        std::span<const std::byte> private_data) override;
    Status accept(std::unique_ptr<Link> &from, std::span<const std::byte> private_data) override;
    void give_up() noexcept override;
    void hang_up(Ending ending) noexcept override;

    // Feeder: polled by an EVD's dequeue and wait.
    void poll(bool again) noexcept override;
    [[nodiscard]] bool has_listeners() const noexcept override;

    // Called by the link: an event of its identifier.
    void on_cm_event(const CmEvent &event) noexcept;
    // The queue pair has received data before the connection manager reported the connection.
    void communication_established() const noexcept;

  private:
    Status start(std::unique_ptr<Link> &from, Timeout timeout, EventKind late);
    [[nodiscard]] Identifier make_identifier() const noexcept;
    [[nodiscard]] std::unique_ptr<VerbsLink> make_link() const;
    void resolve() noexcept;
    void set_up_active(const CmEvent &event) noexcept;
    void set_up_passive(const CmEvent &event) noexcept;
    void carry_on(const CmEvent &event) noexcept;
    void find_route() noexcept;
    void request() noexcept;
    void refused(const CmEvent &event) noexcept;
    void ask_again() noexcept;
    void answered(const CmEvent &event) noexcept;
    [[nodiscard]] bool answer(const Greeting &greeting) const noexcept;
    [[nodiscard]] bool bring_up() const noexcept;
    void establish(std::span<const std::byte> private_data) noexcept;
    void drop_link() noexcept;
    void ask_soon() noexcept;
    [[nodiscard]] VerbsLink &link() const noexcept { return link_of(ep_); }

    Ep &ep_;
    Greeting greeting_{{}}; // ours, until the request is sent
    unsigned polls_ = 0;
    Engine::Alarm question_ = 0; // pings the peer, or repeats a request that found no listener
};

inline VerbsConnector &connector_of(const Ep &ep) noexcept {
    return own<VerbsConnector>(*ep.connector);
}

} // namespace rsmengine
