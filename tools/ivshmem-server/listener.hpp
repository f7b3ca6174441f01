// SPDX-License-Identifier: GPL-2.0
// Takes connections, even when there are no descriptors left for them.
#pragma once

#include "descriptor.hpp"

namespace ivshmem {

class Listener {
  public:
    enum class Outcome {
        connected,
        nobody,      // the client has closed its connection again
        turned_away, // for want of descriptors
        failed,      // accept() has failed
    };
    struct Accepted {
        Outcome outcome;
        Descriptor connection;
        int error = 0;
    };

    // The listening socket, non-blocking, borrowed.
    explicit Listener(int socket);

    int socket() const { return socket_; }
    Accepted accept();

  private:
    bool turn_away();

    int socket_;
    // Given up to take a connection that can only be closed; otherwise it would stay in the queue
    // and be announced again and again.
    Descriptor reserve_;
};

} // namespace ivshmem
