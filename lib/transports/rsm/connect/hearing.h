// SPDX-License-Identifier: MIT
// How a service point hears of requests, and turns them down.
#pragma once

#include "connect/link.h"
#include "connect/listener.h"
#include "engine/connect/endings.h"

#include <memory>
#include <optional>

namespace rsmdat {

class Sp;

// DAT_SUCCESS, DAT_CONN_QUAL_IN_USE, or why else there is no listener.
DAT_RETURN listen(const Ia &ia, DAT_CONN_QUAL qualifier, Listener &listener) noexcept;

// Takes what the listener hears to a service point, for as long as it exists.
class Hearing final : public Source {
  public:
    Hearing(Sp &sp, Listener listener); // throws std::bad_alloc
    // A peer that comes from now on finds nobody; those whose letters have been taken are refused.
    ~Hearing();
    Hearing(const Hearing &) = delete;
    Hearing &operator=(const Hearing &) = delete;

    void ready(std::uint32_t events) noexcept override;

  private:
    static void read_letter(Ia &ia, DAT_HANDLE self) noexcept;
    static std::optional<SegmentAddress> take_letter(const Ia &ia, DAT_HANDLE self) noexcept;
    void read_letters() noexcept;
    void read_later() noexcept;
    void read_slots() noexcept;

    Sp &sp_;
    Listener listener_;
    bool reading_ = false;                 // letters, one at a time
    std::optional<SegmentAddress> unread_; // a letter that could not be dealt with
    Engine::Alarm retry_ = 0;              // for its sake
};

// Ends a request that will not be accepted.
void refuse(Ia &ia, std::unique_ptr<Link> link, Refusal how) noexcept;

} // namespace rsmdat
