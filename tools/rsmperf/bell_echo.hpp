// SPDX-License-Identifier: GPL-2.0
#pragma once

#include "segment.hpp"

namespace rsmperf {

// Bounces doorbells back to the importers of a segment, in another process, over loopback.
class BellEcho {
  public:
    BellEcho();
    BellEcho(const BellEcho &) = delete;
    BellEcho(BellEcho &&) = delete;
    BellEcho &operator=(const BellEcho &) = delete;
    BellEcho &operator=(BellEcho &&) = delete;
    ~BellEcho() { peer_.kill(); }

    [[nodiscard]] rsm_memseg_id_t id() const { return id_; }

  private:
    Peer peer_;
    rsm_memseg_id_t id_;
};

} // namespace rsmperf
