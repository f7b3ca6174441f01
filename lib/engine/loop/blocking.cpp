// SPDX-License-Identifier: MIT
#include "engine/loop/blocking.h"

#include "engine/core/lock.h"
#include "engine/loop/engine.h"

#include <cstdio>
#include <cstdlib>

namespace rsmengine {

void about_to_block([[maybe_unused]] const char *what) noexcept {
#ifdef RSM_CHECKED
    if (!Engine::is_this_thread() && mutexes_held <= 0)
        return;
    const char *whose = Engine::is_this_thread() ? "the engine's thread" : "a thread with Ia::lock";
    (void)std::fprintf(stderr, "libdat: %s may not block: %s\n", whose, what);
    std::abort();
#endif
}

} // namespace rsmengine
