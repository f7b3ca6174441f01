// SPDX-License-Identifier: GPL-2.0
// Descriptors from systemd, or from another supervisor that speaks its protocols, and messages to
// it. Done by hand: it is two dozen lines, and libsystemd brings a handful of libraries with it.
#pragma once

#include <string>

#include "descriptor.hpp"

namespace ivshmem {

// The socket that was passed to this process, or none. Throws if what was passed is no listening
// stream socket of the local kind, or if there are several.
Descriptor passed_socket();

// Tells the supervisor, if there is one, of a new state such as "READY=1".
void notify_supervisor(const std::string &state);

} // namespace ivshmem
