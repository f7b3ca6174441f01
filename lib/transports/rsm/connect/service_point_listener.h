// SPDX-License-Identifier: MIT
// Receives requests for a service point: letters of processes on this node, slots of other nodes.
#pragma once

#include "connect/link.h"
#include "connect/listener.h"
#include "engine/connect/service_point_listener.h"
#include "engine/core/types.h"

#include <optional>

namespace rsmengine {

class RsmServicePointListener final : public ServicePointListener, public Source {
  public:
    explicit RsmServicePointListener(Ia &ia) noexcept : ia_(ia) {}
    // Requesters whose letters have been taken are refused.
    ~RsmServicePointListener() override;

    // As Listener::open. After an error the listener can only be destroyed.
    int open(const Device &device, std::string_view controller, Qualifier qualifier) noexcept {
        return Listener::open(device, controller, qualifier, listener_);
    }

    void serve(Sp &sp) override;
    void stop() noexcept override;
    void ready(std::uint32_t events) noexcept override;

  private:
    struct Request {
        SegmentAddress from;
        Import import; // of the requester's segment; empty if that could not be reached yet
    };

    void watch(int fd, bool &watches);
    static void read_letter(Ia &ia, Handle self) noexcept;
    static std::optional<Request> take_letter(const Ia &ia, Handle self) noexcept;
    static void read_slot(Ia &ia, Handle self, const SegmentAddress &from) noexcept;
    void read_letters() noexcept;
    void read_later() noexcept;
    void read_slots() noexcept;

    Ia &ia_;
    Listener listener_;
    Sp *sp_ = nullptr; // from serve() on
    bool watches_letters_ = false;
    bool watches_slots_ = false;
    bool reading_ = false;          // letters, one at a time
    std::optional<Request> unread_; // a letter whose handling failed
    Engine::Alarm retry_ = 0;       // handles `unread_` again
};

} // namespace rsmengine
