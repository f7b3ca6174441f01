// SPDX-License-Identifier: MIT
// The events of a device: completions that were armed (its completion channel), and errors
// (its asynchronous events).
#pragma once

#include "connect/identifier.h"
#include "engine/loop/engine.h"

#include <infiniband/verbs.h>

namespace rsmengine {

class Ep;
class RdmaDevice;
class VerbsSrq;

class DeviceEvents {
  public:
    explicit DeviceEvents(const RdmaDevice &device); // throws Unavailable
    // From then on; Ia::lock held. Throws std::bad_alloc.
    void start(Ia &ia);

  private:
    class CompletionChannel final : public Source {
      public:
        explicit CompletionChannel(ibv_comp_channel &from) noexcept : from_(from) {}
        void ready(std::uint32_t events) noexcept override;

      private:
        bool take() noexcept;
        ibv_comp_channel &from_;
    };
    class AsyncEventHandler final : public Source, public CmListener {
      public:
        explicit AsyncEventHandler(ibv_context &from) noexcept : from_(from) {}
        void ready(std::uint32_t events) noexcept override;
        // Some drivers send no event when a device is removed; rdma_cm always does.
        void on_cm_event(CmEvent &event) noexcept override;

        Ia *ia = nullptr;

      private:
        void take(const ibv_async_event &event) noexcept;
        static void take(ibv_event_type type, Ep &ep) noexcept;
        void take(ibv_event_type type, VerbsSrq &srq) const noexcept;
        void device_gone() noexcept;
        ibv_context &from_;
        bool gone_ = false;
    };

    const RdmaDevice &device_;
    CompletionChannel completions_;
    AsyncEventHandler async_events_;
    Identifier sentinel_; // gets an event when the device is removed
};

} // namespace rsmengine
