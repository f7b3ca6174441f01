// SPDX-License-Identifier: GPL-2.0
// Programs of others that measure the same thing by other means.
#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

#include "peer.hpp"

namespace rsmperf {

// A program and its arguments.
using Command = std::vector<std::string>;

// A process that runs a command. The destructor kills it.
class Program {
  public:
    // Standard output goes to the descriptor, -1: nowhere; standard error nowhere.
    Program(Place place, const Command &command, int output = -1);
    Program(const Program &) = delete;
    Program(Program &&) = delete;
    Program &operator=(const Program &) = delete;
    Program &operator=(Program &&) = delete;
    ~Program();

    int wait(); // exit status, 128 if it has none

  private:
    pid_t pid_;
};

// The output of a client of some server. It fails as long as the server is not there, so it is run
// until it succeeds; throws when it never does.
std::string output_of_client(const Command &command);

} // namespace rsmperf
