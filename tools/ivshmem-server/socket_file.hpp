// SPDX-License-Identifier: GPL-2.0
// A listening socket in the file system: made, guarded against other servers, removed.
#pragma once

#include <optional>
#include <string>

#include <sys/stat.h>
#include <sys/types.h>

#include "descriptor.hpp"

namespace ivshmem {

class SocketFile {
  public:
    // Replaces the socket of a server that has died. Throws if one is alive.
    SocketFile(std::string path, mode_t mode, std::optional<gid_t> group);
    SocketFile(const SocketFile &) = delete;
    SocketFile &operator=(const SocketFile &) = delete;
    ~SocketFile();

    int socket() const { return socket_.get(); }

  private:
    // The lock alone: the public constructor begins with it, so that its failures end in the
    // destructor.
    explicit SocketFile(std::string path);

    void remove_stale() const;
    void bind_socket(mode_t mode, std::optional<gid_t> group);

    std::string path_;
    Descriptor socket_;
    // Next to the socket, locked as long as its server lives: without it, two servers that start
    // at once could each take the other's socket, not listening yet, for a dead server's.
    Descriptor lock_;
    struct stat made_ {};
};

} // namespace ivshmem
