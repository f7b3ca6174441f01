// SPDX-License-Identifier: GPL-2.0
// What figures over loopback and between nodes do alike with 1 MiB.
#pragma once

#include "measure.hpp"
#include "segment.hpp"

namespace rsmperf {

Batch load_store_batch(char *memory);
Batch put_batch(const Import &import, char *from);

} // namespace rsmperf
