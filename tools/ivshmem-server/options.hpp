// SPDX-License-Identifier: GPL-2.0
// The command line.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include <sys/types.h>

namespace ivshmem {

struct Options {
    std::string socket = "/run/rsm/ivshmem.sock";
    mode_t mode = 0660;
    std::optional<gid_t> group;
    std::uint64_t size = std::uint64_t{64} << 20U;
    std::string shm_name; // empty: a memfd
    unsigned vectors = 1;
    unsigned max_peers = 16;
    std::chrono::seconds patience{30}; // how long a client may leave messages unread
};

// Either options, or the status to exit with at once (help, an error).
struct CommandLine {
    std::optional<Options> options;
    int status = 0;
};

CommandLine parse(int argc, char **argv);

} // namespace ivshmem
