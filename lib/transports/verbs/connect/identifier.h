// SPDX-License-Identifier: MIT
// An rdma_cm_id and the channel on which its events come, which must outlive it.
#pragma once

#include <memory>
#include <rdma/rdma_cma.h>
#include <span>
#include <utility>

namespace rsmengine {

struct CmEvent;

// Gets the events of an identifier.
class CmListener {
  public:
    // Ia::lock held. May destroy this listener.
    virtual void on_cm_event(CmEvent &event) noexcept = 0;

  protected:
    ~CmListener() = default;
};

class Identifier {
  public:
    using Events = std::shared_ptr<rdma_event_channel>;

    Identifier() noexcept = default;
    Identifier(Events events, rdma_cm_id *id) noexcept : events_(std::move(events)), id_(id) {}
    Identifier(Identifier &&other) noexcept
        : events_(std::move(other.events_)), id_(std::exchange(other.id_, nullptr)) {}
    Identifier &operator=(Identifier &&other) noexcept {
        std::swap(events_, other.events_);
        std::swap(id_, other.id_);
        return *this;
    }
    // All events of the identifier must have been acknowledged: rdma_destroy_id() waits for that.
    ~Identifier() {
        if (id_ != nullptr)
            (void)::rdma_destroy_id(id_);
    }

    // A new identifier; empty, and errno, on failure.
    static Identifier create(const Events &events) noexcept {
        rdma_cm_id *id = nullptr;
        const bool made = ::rdma_create_id(events.get(), &id, nullptr, RDMA_PS_TCP) == 0;
        return made ? Identifier(events, id) : Identifier();
    }

    // Sets the listener that gets events from now on; null: events are dropped.
    void set_listener(CmListener *listener) const noexcept { id_->context = listener; }
    [[nodiscard]] rdma_cm_id *get() const noexcept { return id_; }
    rdma_cm_id *operator->() const noexcept { return id_; }
    explicit operator bool() const noexcept { return id_ != nullptr; }

  private:
    Events events_;
    rdma_cm_id *id_ = nullptr;
};

} // namespace rsmengine
