// SPDX-License-Identifier: MIT
// Receives the requests for a service point: an rdma_cm identifier that is bound to the IA's
// address and to the port that the qualifier names.
#pragma once

#include "connect/link.h"
#include "engine/connect/service_point_listener.h"
#include "engine/core/status.h"
#include "engine/core/types.h"

namespace rsmengine {

class VerbsServicePointListener final : public ServicePointListener, public CmListener {
  public:
    // Starts to listen: OK, QUALIFIER_IN_USE, or the reason of another failure.
    Status listen(const Ia &ia, Qualifier qualifier) noexcept;

    void serve(Sp &sp) override;
    void stop() noexcept override;
    void on_cm_event(CmEvent &event) noexcept override;

  private:
    Sp *sp_ = nullptr; // from serve() on
    Identifier id_;
};

} // namespace rsmengine
