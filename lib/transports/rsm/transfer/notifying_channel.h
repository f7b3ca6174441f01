// SPDX-License-Identifier: MIT
// The channel of a connection as both directions of a transfer use it. It remembers whether this
// side has written anything that the peer has not been notified of.
#pragma once

#include "wire/channel.h"

namespace rsmengine {

// The most messages that one call handles: a peer that fills or empties a ring as fast as this side
// empties or fills it must not keep this thread in the lock.
constexpr int TURNS = 1024;

class NotifyingChannel {
  public:
    using Ring = Channel::Ring;
    using SgList = std::span<const std::span<const std::byte>>;

    void open(Channel &channel) noexcept { channel_ = &channel; }
    void close() noexcept { channel_ = nullptr; }
    explicit operator bool() const noexcept { return channel_ != nullptr; }

    [[nodiscard]] bool local() const noexcept { return channel_->local(); }
    [[nodiscard]] std::size_t limit(Ring ring) const noexcept { return channel_->limit(ring); }

    // False if there is no room now, or `check` says no.
    bool send(Ring ring, const MessageHeader &header, SgList pieces = {},
              Check check = {}) noexcept {
        const bool sent = channel_->send(ring, header, pieces, check);
        unnotified_ |= sent;
        return sent;
    }
    [[nodiscard]] bool has_message(Ring ring) const noexcept { return channel_->has_message(ring); }
    Arrived receive(Ring ring, Message &message) noexcept {
        return channel_->receive(ring, message);
    }
    [[nodiscard]] bool has_unread() const noexcept { return channel_->has_unread(); }
    void consume(Ring ring) noexcept {
        channel_->consume(ring);
        unnotified_ = true;
    }
    void set_executed(std::uint64_t count) noexcept {
        channel_->set_executed(count);
        unnotified_ = true;
    }
    [[nodiscard]] std::optional<std::uint64_t> executed(std::uint64_t sent) noexcept {
        return channel_->executed(sent);
    }
    // Rings the peer's bell if a call above has written anything; to be called after a batch of
    // them.
    void notify_peer() noexcept {
        if (unnotified_)
            channel_->ring_bell();
        unnotified_ = false;
    }

  private:
    Channel *channel_ = nullptr;
    bool unnotified_ = false;
};

} // namespace rsmengine
