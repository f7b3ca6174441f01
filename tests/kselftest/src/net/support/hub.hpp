// SPDX-License-Identifier: GPL-2.0
// The way from a test on node 1 to the peers, and to rsm-vm.
#pragma once

#include "net/support/answer.hpp"
#include "net/support/lines.hpp"
#include "support/waiting.hpp"

#include <map>
#include <sys/types.h>

namespace rsmtest::net {

// Names from the environment, so that the same tests run on any interconnect:
//	RSM_NET_CONTROLLER	the controller (ivshmem0)
//	RSM_NET_NODES		nodes of the peers ("2 3"); with this node's own id a peer is
//				a process of this node
struct Configuration {
    std::string controller;
    std::vector<unsigned> nodes;
    unsigned own = 0;

    static const Configuration &get();
};

class Hub {
  public:
    using Clock = std::chrono::steady_clock;

    static Hub &instance();
    Hub(const Hub &) = delete;
    Hub &operator=(const Hub &) = delete;

    // All nodes that the tests need can be asked. Otherwise why not.
    bool available() const { return problem_.empty(); }
    const std::string &problem() const { return problem_; }

    // Sends an order; the tag names its answer.
    std::string send(unsigned node, const std::string &order);
    // Waits for an answer. Afterwards nobody waits for it any more.
    Answer receive(const std::string &tag, const Place &place);
    // Waits no longer than that, for one who may be dead: answered or not, the test goes on.
    bool answered(const std::string &tag, std::chrono::milliseconds at_most);
    // Nobody waits for the answer any more.
    void forget(const std::string &tag) { answers_.erase(tag); }
    // Tells rsm-vm something, and its next answer.
    void tell_vm(const std::string &order);
    std::string hear_vm(const Place &place = Place::here());

  private:
    Hub();
    ~Hub();
    void start_local_peer();
    // Reads once, after at most so many milliseconds, or whenever something comes (-1).
    void pump(int milliseconds);
    void sort(std::string_view line);

    std::string problem_;
    std::string run_;
    Lines hub_{Fd()};
    Lines local_{Fd()};
    pid_t local_pid_ = -1;
    unsigned sent_ = 0;
    std::map<std::string, std::optional<Answer>> answers_;
    std::deque<std::string> vm_answers_;
};

} // namespace rsmtest::net
