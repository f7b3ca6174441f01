// SPDX-License-Identifier: MIT
// The memory and the rights that a new region needs.
#pragma once

#include "engine/memory/pages.h"

#include <cstdint>

namespace rsmengine {

struct Wanted {
    std::uint64_t address = 0;
    std::uint64_t length = 0;
    PageRange pages{};       // the pages that the region touches
    unsigned privileges = 0; // rights
};

} // namespace rsmengine
