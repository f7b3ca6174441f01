// SPDX-License-Identifier: MIT
// The connection manager: dispatches the events of rdma_cm to listeners, and keeps identifiers
// whose peer has yet to answer the end of the connection.
#pragma once

#include "connect/identifier.h"
#include "engine/loop/engine.h"

#include <array>
#include <cstddef>
#include <span>
#include <unordered_map>

namespace rsmengine {

// An event of rdma_cm, copied: the original has been acknowledged.
struct CmEvent {
    rdma_cm_event_type type{};
    int status = 0;
    Identifier request; // of a CONNECT_REQUEST: what the connection would be
    unsigned responder_resources = 0;
    unsigned initiator_depth = 0;
    std::array<std::byte, 255> data{};
    std::size_t size = 0; // of the data; IB pads it

    [[nodiscard]] std::span<const std::byte> private_data() const noexcept {
        return std::span(data).first(size);
    }
};

class Manager final : public Source {
  public:
    Manager();                  // throws Unavailable
    void start(Engine &engine); // from then on; throws std::bad_alloc

    // A new identifier whose events this manager dispatches; empty, and errno, on failure.
    [[nodiscard]] Identifier create() const noexcept { return Identifier::create(events_); }
    // Dispatches pending events, up to a limit, so that other threads get the lock.
    void look() noexcept;
    // Destroys an identifier on another thread; if `answer_expected`, only when the peer has
    // answered the end of the connection. No effect on an empty one.
    void release(Identifier id, bool answer_expected) noexcept;

    void ready(std::uint32_t events) noexcept override;

  private:
    bool take() noexcept;
    void dispatch(CmListener *listener, const rdma_cm_id *id, CmEvent &event) noexcept;
    void drop(Identifier id) noexcept;

    Identifier::Events events_;
    Engine *engine_ = nullptr;
    std::unordered_map<const rdma_cm_id *, Identifier> leaving_;
};

} // namespace rsmengine
