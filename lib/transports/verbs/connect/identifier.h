// SPDX-License-Identifier: MIT
// An rdma_cm_id and the channel on which its events come, which must outlive it. Its end may wait:
// where Ia::lock is held, Manager::release() ends it.
#pragma once

#include "engine/loop/job.h"

#include <memory>
#include <rdma/rdma_cma.h>
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
    // A new identifier; empty, and errno, on failure.
    static Identifier create(const Events &events) noexcept;
    // Takes over the identifier of a request for a connection. Empty if memory is short: rdma_cm
    // then refuses the requester.
    static Identifier adopt(const Events &events, rdma_cm_id *id) noexcept;
    // Ends the identifier, once all of its events have been acknowledged.
    [[nodiscard]] std::unique_ptr<Job> take_end() &&noexcept { return std::move(inside_); }

    // Sets the listener that gets events from now on; null: events are dropped.
    void set_listener(CmListener *listener) const noexcept { get()->context = listener; }
    [[nodiscard]] rdma_cm_id *get() const noexcept { return inside_->id; }
    rdma_cm_id *operator->() const noexcept { return get(); }
    explicit operator bool() const noexcept { return inside_ != nullptr; }

  private:
    // rdma_destroy_id() waits: for acknowledgements, and in the kernel for messages in flight.
    struct Inside final : Job {
        explicit Inside(Events its) noexcept : events(std::move(its)) {}
        ~Inside() override;

        const Events events;
        rdma_cm_id *id = nullptr;
    };
    explicit Identifier(std::unique_ptr<Inside> inside) noexcept : inside_(std::move(inside)) {}

    std::unique_ptr<Inside> inside_;
};

} // namespace rsmengine
