// SPDX-License-Identifier: MIT
// Messages that a device sends by itself: that armed completions have come, and that something has
// gone wrong.
#pragma once

#include "connect/identifier.h"
#include "engine/loop/engine.h"

#include <infiniband/verbs.h>

namespace rsmdat {

class RdmaDevice;

class News {
  public:
    explicit News(const RdmaDevice &device); // throws Unavailable
    // From then on; Ia::lock held. Throws std::bad_alloc.
    void start(Ia &ia);

  private:
    class Completions final : public Source {
      public:
        explicit Completions(ibv_comp_channel &from) noexcept : from_(from) {}
        void ready(std::uint32_t events) noexcept override;

      private:
        bool take() noexcept;
        ibv_comp_channel &from_;
    };
    class Troubles final : public Source, public Party {
      public:
        explicit Troubles(ibv_context &from) noexcept : from_(from) {}
        void ready(std::uint32_t events) noexcept override;
        // Drivers that can't take a device away under us don't say so; rdma_cm does.
        void happened(Happening &event) noexcept override;

        Ia *ia = nullptr;

      private:
        void take(const ibv_async_event &event) noexcept;
        void device_gone() noexcept;
        ibv_context &from_;
        bool gone_ = false;
    };

    const RdmaDevice &device_;
    Completions completions_;
    Troubles troubles_;
    Identifier sentinel_; // is told when the device goes
};

} // namespace rsmdat
