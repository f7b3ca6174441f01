// SPDX-License-Identifier: GPL-2.0
// The command line.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "colour.hpp"
#include "sort.hpp"

namespace rsmctl {

enum class Verb { list, show, monitor, add, set, del, secret, no_secret, revoke, doctor, metrics, top };

struct Options {
    Verb verb = Verb::list;
    std::string object;       // name of a kind
    std::string name;         // of a controller, to be shown
    std::uint32_t number = 0; // of anything else
    bool handle = false;      // the number is that of a segment's handle, not its id
    bool imports = false;     // show those of a segment, too
    std::string controller;   // whose node it is; empty: the one that there is
    std::string address;      // for the node
    std::string file;         // that the secret is in
    bool none = false;        // there is to be no secret
    std::string output;       // file for the metrics; empty: standard output
    bool segments = false;    // metrics of each segment and import, too
    std::vector<std::string> events;
    bool json = false;
    bool human = false;
    ColourWhen colour = ColourWhen::automatic;
    std::string sort; // key of the field that a list is sorted by; empty: as the kernel lists
    Direction direction = Direction::ascending;
    std::vector<std::string> columns; // keys of those of a list; empty: the usual ones
    std::optional<std::chrono::milliseconds> watch; // list again after each interval
};

// Either options, or the status to exit with at once (help, an error).
struct CommandLine {
    std::optional<Options> options;
    int status = 0;
};

CommandLine parse(int argc, char **argv);

} // namespace rsmctl
