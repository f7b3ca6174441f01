// SPDX-License-Identifier: MIT
// The rule that nothing blocks on the engine's thread, enforced.
#pragma once

namespace rsmengine {

// Called before each system call that may wait: for another node (a connect, the end of an export),
// for another thread (a Futex), or for the kernel's work on much memory (the end of a peer's
// region). In builds with tests and for debugging (RSM_CHECKED) the process aborts, and says why,
// when the engine's thread calls it; in others nothing happens.
void about_to_block(const char *what) noexcept;

} // namespace rsmengine
