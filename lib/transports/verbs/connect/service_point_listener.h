// SPDX-License-Identifier: MIT
// How a service point hears of requests: an identifier that is bound to the IA's address and the
// port that is the qualifier.
#pragma once

#include "connect/link.h"
#include "engine/connect/service_point_listener.h"
#include "engine/core/status.h"
#include "engine/core/types.h"

namespace rsmengine {

class VerbsServicePointListener final : public ServicePointListener, public CmListener {
  public:
    // OK, QUALIFIER_IN_USE, or why else it does not listen.
    Status listen(const Ia &ia, Qualifier qualifier) noexcept;

    void serve(Sp &sp) override;
    void stop() noexcept override;
    void on_cm_event(CmEvent &event) noexcept override;

  private:
    Sp *sp_ = nullptr; // from serve() on
    Identifier id_;
};

} // namespace rsmengine
