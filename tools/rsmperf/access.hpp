// SPDX-License-Identifier: GPL-2.0
// Work on 1 MiB that figures over loopback and between nodes share.
#pragma once

#include "measure.hpp"
#include "segment.hpp"

namespace rsmperf {

Batch load_store_batch(char *memory);
Batch put_batch(const Import &import, char *from);

} // namespace rsmperf
