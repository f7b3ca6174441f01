// SPDX-License-Identifier: MIT
// The rule that nothing blocks on the engine's thread, nor while a thread holds Ia::lock, for which
// the engine's thread would wait, enforced.
#pragma once

namespace rsmengine {

// Called before each system call that may wait: for another node (a connect, the end of an export
// or of a connection), for another thread (a Futex, the end of a thread), or for the kernel's work
// on much memory (the end of a peer's region). In builds with tests and for debugging (RSM_CHECKED)
// the process aborts, and says why, when the engine's thread or a thread that holds Ia::lock calls
// it; in others nothing happens.
void about_to_block(const char *what) noexcept;

} // namespace rsmengine
