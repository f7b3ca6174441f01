// SPDX-License-Identifier: GPL-2.0
// A network that delays or loses what a node sends.
#pragma once

#include "net/support/peer.hpp"

#include <gtest/gtest.h>
#include <string>

namespace rsmtest::net {

// The command after which a node's network delays or loses what `how` says in the words of tc, or nothing. The queue of
// the network device is there from the start of the guest, and is changed, not exchanged: soft RoCE takes a packet that
// is refused meanwhile for a failure of its queue pair. The shell would take busybox's tc, which has no netem.
inline std::string netem(const std::string &how = "") {
    return "/usr/sbin/tc qdisc change dev eth0 root netem limit 10000 " + how;
}

// For as long as this lives.
class Netem {
  public:
    Netem(unsigned node, const std::string &how) : node_(node) { change(how); }
    ~Netem() { change(); }
    Netem(const Netem &) = delete;
    Netem &operator=(const Netem &) = delete;

  private:
    void change(const std::string &how = "") {
        const Answer answer = Session(node_).call("sh " + netem(how));
        EXPECT_EQ(answer.status, 0) << answer.text;
    }

    unsigned node_;
};

} // namespace rsmtest::net
