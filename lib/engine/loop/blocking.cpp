// SPDX-License-Identifier: MIT
#include "engine/loop/blocking.h"

#include "engine/loop/engine.h"

#include <cstdio>
#include <cstdlib>

namespace rsmengine {

void about_to_block([[maybe_unused]] const char *what) noexcept {
#ifdef RSM_CHECKED
    if (!Engine::is_this_thread())
        return;
    (void)std::fprintf(stderr, "libdat: the engine's thread may not block: %s\n", what);
    std::abort();
#endif
}

} // namespace rsmengine
