// SPDX-License-Identifier: MIT
// How a service point hears of requests: an identifier that is bound to the IA's address and the
// port that is the qualifier.
#pragma once

#include "connect/link.h"
#include "engine/connect/service_point_listener.h"
#include "engine/core/status.h"
#include "engine/core/types.h"

namespace rsmengine {

// OK, QUALIFIER_IN_USE, or why else there is no listener.
Status listen(const Ia &ia, Qualifier qualifier, Identifier &listener) noexcept;

class VerbsServicePointListener final : public ServicePointListener, public CmListener {
  public:
    explicit VerbsServicePointListener(Identifier id) noexcept : id_(std::move(id)) {}
    ~VerbsServicePointListener() override;

    void serve(Sp &sp) override;
    void stop() noexcept override;
    void on_cm_event(CmEvent &event) noexcept override;

  private:
    Sp *sp_ = nullptr; // from serve() on
    Identifier id_;
};

} // namespace rsmengine
