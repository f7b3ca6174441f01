// SPDX-License-Identifier: MIT
// The channel of a connection as both directions of a transfer use it: knows whether the peer has
// to be told of something.
#pragma once

#include "wire/channel.h"

namespace rsmdat {

class Line {
  public:
    using Ring = Channel::Ring;
    using Parts = std::span<const std::span<const std::byte>>;

    void open(Channel &channel) noexcept { channel_ = &channel; }
    void close() noexcept { channel_ = nullptr; }
    explicit operator bool() const noexcept { return channel_ != nullptr; }

    [[nodiscard]] bool local() const noexcept { return channel_->local(); }
    [[nodiscard]] std::size_t limit(Ring ring) const noexcept { return channel_->limit(ring); }

    // False if there is no room now, or `check` says no.
    bool send(Ring ring, const MessageHeader &header, Parts parts = {}, Check check = {}) noexcept {
        const bool sent = channel_->send(ring, header, parts, check);
        news_ |= sent;
        return sent;
    }
    [[nodiscard]] bool has_message(Ring ring) const noexcept { return channel_->has_message(ring); }
    Arrived receive(Ring ring, Message &message) noexcept {
        return channel_->receive(ring, message);
    }
    [[nodiscard]] bool has_news() const noexcept { return channel_->has_news(); }
    void consume(Ring ring) noexcept {
        channel_->consume(ring);
        news_ = true;
    }
    void set_executed(std::uint64_t count) noexcept {
        channel_->set_executed(count);
        news_ = true;
    }
    [[nodiscard]] std::optional<std::uint64_t> executed(std::uint64_t sent) noexcept {
        return channel_->executed(sent);
    }
    // After a batch of the above.
    void tell_peer() noexcept {
        if (news_)
            channel_->ring();
        news_ = false;
    }

  private:
    Channel *channel_ = nullptr;
    bool news_ = false;
};

} // namespace rsmdat
