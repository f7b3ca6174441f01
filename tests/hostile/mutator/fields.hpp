// SPDX-License-Identifier: GPL-2.0
// Changes of the window's fields: a mode for each class of them.
#pragma once

#include "mutator/chance.hpp"
#include "mutator/window.hpp"

#include <span>

namespace hostile {

struct FieldMode {
    const char *name;
    // One mutation.
    void (*step)(Window &window, Chance &chance);
    // Most steps without a pause.
    unsigned burst;
};

std::span<const FieldMode> field_modes();

} // namespace hostile
