// SPDX-License-Identifier: GPL-2.0
// rsm-ivshmem-server: hands shared memory and doorbells to QEMU's ivshmem-doorbell devices, by the
// protocol of QEMU's docs/specs/ivshmem-spec.
#include <algorithm>
#include <csignal>
#include <exception>
#include <optional>

#include <sys/resource.h>

#include "descriptor.hpp"
#include "log.hpp"
#include "memory.hpp"
#include "options.hpp"
#include "server.hpp"
#include "socket_file.hpp"
#include "supervisor.hpp"

namespace ivshmem {

namespace {

// Standard streams, epoll, the listening socket and the like.
constexpr rlim_t other_descriptors = 32;

// Descriptors that are open, and those on their way to clients, count against the same limit.
rlim_t needed_descriptors(const Options &options) {
    return rlim_t{options.max_peers} * (options.vectors + 1 + most_in_flight) + other_descriptors;
}

void raise_limit(rlim_t needed) {
    rlimit limit{};
    check_errno(getrlimit(RLIMIT_NOFILE, &limit), "RLIMIT_NOFILE");
    if (limit.rlim_max < needed) {
        log("some peers may be refused: " + std::to_string(needed) +
            " descriptors needed at worst, " + std::to_string(limit.rlim_max) + " allowed");
    }
    if (limit.rlim_cur < needed) {
        limit.rlim_cur = std::min(needed, limit.rlim_max);
        check_errno(setrlimit(RLIMIT_NOFILE, &limit), "RLIMIT_NOFILE");
    }
}

std::string description_of(const Options &options) {
    return std::to_string(options.size >> 20U) + " MiB for " + std::to_string(options.max_peers) +
           " peers, vectors: " + std::to_string(options.vectors);
}

void serve(const Options &options) {
    const auto passed = passed_socket();
    // A log that nobody reads any more is no reason to end.
    (void)std::signal(SIGPIPE, SIG_IGN);
    raise_limit(needed_descriptors(options));
    const auto memory = options.shm_name.empty() ? anonymous_memory(options.size)
                                                 : named_memory(options.shm_name, options.size);
    std::optional<SocketFile> file;
    if (!passed) {
        file.emplace(options.socket, options.mode, options.group);
    }
    Server server(options, file ? file->socket() : passed.get(), memory.get());
    log("ready, " + description_of(options));
    notify_supervisor("READY=1");
    server.run();
    notify_supervisor("STOPPING=1");
    log("ends as told by a signal");
}

} // namespace

} // namespace ivshmem

int main(int argc, char **argv) {
    try {
        const auto line = ivshmem::parse(argc, argv);
        if (!line.options) {
            return line.status;
        }
        ivshmem::serve(*line.options);
        return 0;
    } catch (const std::exception &error) {
        ivshmem::log(error.what());
        return 1;
    }
}
