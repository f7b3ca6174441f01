// SPDX-License-Identifier: GPL-2.0
// The connect figures' common part.
#pragma once

#include "measure.hpp"
#include "segment.hpp"

namespace rsmperf {

constexpr std::size_t connect_size = 2 * MiB;

enum class Step { connect, map, unmap, disconnect };

// Connect, map, unmap, disconnect.
Batch connect_batch(const Controller &controller, rsm_memseg_id_t id);
// Time per cycle that one of these takes.
double time_step(const Controller &controller, rsm_memseg_id_t id, Step step, std::size_t count);

} // namespace rsmperf
