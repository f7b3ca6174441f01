// SPDX-License-Identifier: GPL-2.0
// ksft-peer: the other end of the tests between nodes. Runs on every node but the first, where
// the tests start one for sessions of their own (with the descriptor of a socket that stands for
// the hub).
//
// usage: ksft-peer [DESCRIPTOR]
#include "net/peer/daemon.hpp"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>

using namespace rsmtest;

int main(int argc, char **argv) {
    std::signal(SIGPIPE, SIG_IGN);
    Fd hub(argc > 1 ? std::atoi(argv[1]) : open(net::hub_path, O_RDWR | O_CLOEXEC));
    if (!hub.valid() || fcntl(hub.get(), F_SETFD, FD_CLOEXEC) != 0) {
        std::fprintf(stderr, "ksft-peer: no hub: %s\n", std::strerror(errno));
        return 1;
    }
    net::Daemon(net::Lines(std::move(hub))).run();
    return 0;
}
