// SPDX-License-Identifier: GPL-2.0
// One line per event on stderr, where systemd's journal picks it up.
#pragma once

#include <string>

namespace ivshmem {

void log(const std::string &line);

} // namespace ivshmem
