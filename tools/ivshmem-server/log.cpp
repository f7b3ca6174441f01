// SPDX-License-Identifier: GPL-2.0
#include "log.hpp"

#include <cstdio>

namespace ivshmem {

void log(const std::string &line) {
    (void)std::fprintf(stderr, "rsm-ivshmem-server: %s\n", line.c_str());
}

} // namespace ivshmem
