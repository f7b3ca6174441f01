// SPDX-License-Identifier: GPL-2.0
// How much a test does: little in `make check`, as much as tests/soak asks for there.
#pragma once

#include <cstdlib>

namespace rsmtest {

// RSM_SOAK_ROUNDS, or what is usual.
inline unsigned soak_rounds(unsigned usual)
{
    const char *text = std::getenv("RSM_SOAK_ROUNDS");
    return text && std::atoi(text) > 0 ? static_cast<unsigned>(std::atoi(text)) : usual;
}

// RSM_SOAK_SEED, or always the same.
inline unsigned soak_seed()
{
    const char *text = std::getenv("RSM_SOAK_SEED");
    return text ? static_cast<unsigned>(std::strtoul(text, nullptr, 10)) : 1;
}

} // namespace rsmtest
