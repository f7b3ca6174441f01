// SPDX-License-Identifier: GPL-2.0
// Every call has to come back with a status that RSMAPI knows; one that takes long is told.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

namespace hostile {

// Ends the program, after telling why. The guest's command fails then.
[[noreturn]] void give_up(const std::string &why);

// The present act of a thread.
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
    // Prints the name of a call that is under way, and for how long, if that is longer than LIMIT.
    void tell_if_longer(std::chrono::milliseconds limit) const;

  private:
    void begin(const char *name);
    void end(int status);

    std::atomic<const char *> name_{nullptr};
    std::atomic<std::int64_t> since_{0};
    std::atomic<std::uint64_t> good_{0};
    std::atomic<std::uint64_t> bad_{0};
};

// Likewise of all threads that are watched.
void tell_all_longer(std::chrono::milliseconds limit);
// Milliseconds of the longest call since this was asked last, and its name.
std::string longest_call();

} // namespace hostile
