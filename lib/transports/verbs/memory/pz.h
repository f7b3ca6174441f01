// SPDX-License-Identifier: MIT
// Protection zones: protection domains of the device.
#pragma once

#include "engine/memory/pz.h"

#include <memory>

struct ibv_pd;

namespace rsmengine {

class VerbsPz final : public Pz {
  public:
    explicit VerbsPz(Ia &ia); // throws std::bad_alloc

    // Registered memory, which is deregistered without Ia::lock, may outlive the Pz by a moment.
    const std::shared_ptr<ibv_pd> domain;
};

} // namespace rsmengine
