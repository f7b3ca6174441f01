// SPDX-License-Identifier: MIT
// The needs of a region on the program's memory.
#pragma once

#include "engine/memory/pages.h"

#include <cstdint>

namespace rsmengine {

struct Wanted {
    std::uint64_t address = 0;
    std::uint64_t length = 0;
    PageRange pages{};       // that it touches
    unsigned privileges = 0; // rights
};

} // namespace rsmengine
