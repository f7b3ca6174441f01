// SPDX-License-Identifier: GPL-2.0
// Every call is timed, and has to come back with a status that RSMAPI knows.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

namespace hostile {

// No call may take more heartbeats, whatever the other nodes do: twice what a peer may make of one,
// for each of two peers, and some for the machine.
constexpr int call_limit = 20;

// That of this node, in milliseconds.
std::int64_t heartbeat();

// Ends the program, after telling why. The guest's command fails then.
[[noreturn]] void give_up(const std::string &why);

// What a thread is doing.
class Watched {
  public:
    Watched();
    Watched(const Watched &) = delete;
    Watched &operator=(const Watched &) = delete;
    ~Watched();

    // Runs a call and returns its status.
    template <class Call>
    int operator()(const char *name, Call call) {
        begin(name);
        const int status = call();
        end(status);
        return status;
    }

    std::uint64_t good() const { return good_; }
    std::uint64_t bad() const { return bad_; }
    // Too long in one call?
    void check() const;

  private:
    void begin(const char *name);
    void end(int status);

    std::atomic<const char *> name_{nullptr};
    std::atomic<std::int64_t> since_{0};
    std::atomic<std::uint64_t> good_{0};
    std::atomic<std::uint64_t> bad_{0};
};

// Looks at all threads that are watched; called now and then.
void check_all();
// Milliseconds of the longest call since this was asked last, and its name.
std::string longest_call();

} // namespace hostile
