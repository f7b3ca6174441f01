// SPDX-License-Identifier: MIT
// The interconnects of this node, as the kernel lists them and as programs see
// them.
#pragma once

#include <cstdint>
#include <linux/rsm.h>
#include <vector>

#include "api.h"

namespace rsm {

struct TopologyPicture {
    std::uint32_t node = 0;
    std::vector<rsm_topology_controller> controllers;
    std::vector<rsm_topology_peer> peers; // of the first controller, of the second, ...
};

// One block from calloc(), nullptr without memory. The peer counts of the
// controllers add up to the number of peers.
rsm_topology_t *layout_topology(const TopologyPicture &picture) noexcept;

} // namespace rsm
