// SPDX-License-Identifier: GPL-2.0
// The command line of the runner.
#pragma once

#include <cstdio>
#include <optional>
#include <string>
#include <vector>

namespace rsmrun {

enum class Request { run, list, help };

struct Options {
    Request request = Request::run;
    // Shell patterns of area.Suite.Name.
    std::vector<std::string> filter{"*"};
    std::vector<std::string> except;
    // Seconds that a test may take on a machine of usual speed.
    int limit = 240;
    int factor = 1;
    // Shows after each test how long the test took.
    bool times = false;
    // Where the runner finds /sys, /proc and /dev: another directory in the runner's own tests.
    std::string root;
    // The directory of the test binaries.
    std::string binaries;
    // The directory to which sanitizers write; empty without them.
    std::string reports;
};

// The options, or nothing after a complaint on stderr.
std::optional<Options> parse_options(int argc, char **argv);
void print_usage(std::FILE *stream);

} // namespace rsmrun
