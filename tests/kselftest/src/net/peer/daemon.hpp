// SPDX-License-Identifier: GPL-2.0
// Takes orders from the hub, hands them to sessions and sends their answers back.
#pragma once

#include "net/peer/args.hpp"

#include <map>
#include <poll.h>
#include <random>
#include <sys/types.h>
#include <vector>

namespace rsmtest::net {

// "@NODE TAG SESSION VERB..." comes, "@NODE TAG ANSWER" goes. Session 0 is the daemon itself:
//	new		starts a session: its number
//	kill S SIGNAL	sends a signal; SIGKILL waits for the end
//	reap S		waits for the end of a session: its wait status
//	reset [TEST]	ends all sessions; says which places of the modules TEST was the first to reach, if it is named
//			and the modules are compiled for that
//	stats		kernel counters: handles, pinned_pages, published
class Daemon {
  public:
    explicit Daemon(Lines hub) : hub_(std::move(hub)) {}

    // Returns when the hub is gone.
    void run();

  private:
    struct Session {
        pid_t pid = -1;
        Fd end;
        // Where the answer goes that it owes, if it does.
        std::string owes;
    };

    bool listen();
    void obey(std::string_view line);
    Answer obey_myself(Args &args);
    void hand_over(std::uint64_t number, const std::string &to, const std::string &order);
    void relay(Session &session);
    void reply(const std::string &to, const Answer &answer);

    Answer start();
    void become_session(Fd end);
    Answer signal(Args &args);
    Answer reap(std::uint64_t number);
    void end(Session &session);
    static void show_coverage(const std::string &test);
    void end_all();
    Session &session(std::uint64_t number);

    Lines hub_;
    std::map<std::uint64_t, Session> sessions_;
    // Not from 1: numbers that an earlier run of this node gave mean nobody.
    std::uint64_t started_ = std::random_device{}();
};

} // namespace rsmtest::net
