// SPDX-License-Identifier: MIT
// An Ep's way to a channel that both sides share, and how that ends.
#pragma once

#include "connect/link.h"
#include "engine/connect/connector.h"
#include "engine/core/own.h"

#include <memory>
#include <span>

namespace rsmdat {

class RsmConnector final : public Connector, public Source {
  public:
    explicit RsmConnector(Ep &ep) noexcept : ep_(ep) {}

    DAT_RETURN connect(const sockaddr_storage &remote, DAT_CONN_QUAL qualifier, DAT_TIMEOUT timeout,
                       std::span<const std::byte> private_data) override;
    DAT_RETURN connect_like(const Link &model, DAT_TIMEOUT timeout,
                            std::span<const std::byte> private_data) override;
    DAT_RETURN accept(std::unique_ptr<Link> &from,
                      std::span<const std::byte> private_data) override;
    void give_up() noexcept override;
    void hang_up(Ending ending) noexcept override;

    // Source: a doorbell of, or the end of, the channel. Feeder: polled by an EVD's dequeue and
    // wait.
    void ready(std::uint32_t events) noexcept override;
    void poll(bool again) noexcept override;
    [[nodiscard]] bool has_listeners() const noexcept override;

  private:
    DAT_RETURN connect(const sockaddr_storage &remote, std::uint32_t node, DAT_CONN_QUAL qualifier,
                       DAT_TIMEOUT timeout, std::span<const std::byte> private_data);
    void start(std::unique_ptr<Link> &from, DAT_TIMEOUT timeout, DAT_EVENT_NUMBER late);
    void stop() noexcept;
    void call();
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
    std::shared_ptr<Channel> buried_; // ended, but not destroyed yet for want of memory
};

inline RsmConnector &connector_of(const Ep &ep) noexcept {
    return own<RsmConnector>(*ep.connector);
}

} // namespace rsmdat
