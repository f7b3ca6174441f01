// SPDX-License-Identifier: MIT
// An Ep's way to a channel that both sides share, and how that ends.
#pragma once

#include "connect/link.h"
#include "engine/connect/connector.h"
#include "engine/core/own.h"
#include "engine/core/status.h"
#include "engine/core/types.h"
#include "engine/event/event.h"

#include <memory>
#include <span>

namespace rsmengine {

class RsmTransport;

class RsmConnector final : public Connector, public Source {
  public:
    explicit RsmConnector(Ep &ep) noexcept : ep_(ep) {}

    Status connect(const sockaddr_storage &remote, Qualifier qualifier, Timeout timeout,
                   std::span<const std::byte> private_data) override;
    Status connect_like(const Link &model, Timeout timeout,
                        std::span<const std::byte> private_data) override;
    Status accept(std::unique_ptr<Link> &from, std::span<const std::byte> private_data) override;
    void give_up() noexcept override;
    void hang_up(Ending ending) noexcept override;

    // Source: a doorbell of, or the end of, the channel. Feeder: polled by an EVD's dequeue and
    // wait.
    void ready(std::uint32_t events) noexcept override;
    void poll(bool again) noexcept override;
    [[nodiscard]] bool has_listeners() const noexcept override;

  private:
    Status connect(const sockaddr_storage &remote, std::uint32_t node, Qualifier qualifier,
                   Timeout timeout, std::span<const std::byte> private_data);
    void start(std::unique_ptr<Link> &from, Timeout timeout, EventKind late);
    void stop() noexcept;
    using CallFunction = int (*)(Call &call, const RsmTransport &transport, std::uint32_t node);
    void call();
    void run(CallFunction what);
    void called(int status) noexcept;
    void call_again() noexcept;
    void call_off() noexcept;
    void look_up_later() noexcept;
    void look_up_again() noexcept;
    void watch_listener();
    void unheard(int status) noexcept;
    void arrived() noexcept;
    void attach(const SegmentAddress &peer);
    void attached(int status) noexcept;
    void set_up_active(LinkState said, bool gone) noexcept;
    void set_up_passive(LinkState said, bool gone) noexcept;
    void accepted() noexcept;
    void close_door() noexcept;
    void establish(std::span<const std::byte> private_data) noexcept;

    // Not inline, because poll() is shorter without them.
    [[gnu::noinline]] void disarm() noexcept;
    [[gnu::noinline]] void step() noexcept;
    [[nodiscard]] LinkState expected() const noexcept;
    void carry_on(LinkState said, bool gone) noexcept;
    void notify_peer(LinkState what) const noexcept;
    void drop_link() noexcept;

    [[nodiscard]] Engine &engine() const noexcept;
    [[nodiscard]] RsmLink &link() const noexcept { return link_of(ep_); }

    Ep &ep_;
    unsigned polls_ = 0;
};

inline RsmConnector &connector_of(const Ep &ep) noexcept {
    return own<RsmConnector>(*ep.connector);
}

} // namespace rsmengine
