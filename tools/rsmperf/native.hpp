// SPDX-License-Identifier: GPL-2.0
// Figures of a real processor on machines where rsm.ko can't be loaded, and would be emulated otherwise.
#pragma once

namespace rsmperf {

// Replaces this process by rsm-fake, which runs the same command line on a fake of /dev/rsm
// (Documentation/device.md). Returns in the process that runs there. Throws when there is no
// rsm-fake.
void use_fake(char **argv);

} // namespace rsmperf
