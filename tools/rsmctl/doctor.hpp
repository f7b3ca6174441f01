// SPDX-License-Identifier: GPL-2.0
// rsmctl doctor: whether this machine and this session can use RSM, and what to do if not.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "options.hpp"
#include "record.hpp"

namespace rsmctl {

// The result of a check. With a note RSM can be used.
enum class Verdict { ok, note, fail };

struct Finding {
    std::string check;
    Verdict verdict;
    std::string found;
    std::string remedy; // empty: there is nothing to do
};

// The user and session that the doctor examines.
struct Caller {
    uid_t uid = 0;
    std::string name;
    std::vector<gid_t> groups;                  // of the session
    std::optional<std::uint64_t> locked_memory; // RLIMIT_MEMLOCK; none: unlimited
    std::uint64_t descriptors = 0;              // RLIMIT_NOFILE
};

// The state that the kernel reports, if rsm.ko is there to be asked.
struct Reported {
    std::vector<Json> controllers;
    std::vector<Json> nodes;
    Json stats;
};

// The files that the doctor reads; the unit tests have a directory in place of /.
struct Machine {
    std::filesystem::path root = "/";
    std::string kernel; // as uname -r
    Caller caller;
    int device_error = 0; // errno of an open() of /dev/rsm
    std::optional<Reported> reported;
};

std::vector<Finding> examine(const Machine &machine);

// Whether RSM can be used: no check has failed.
bool usable(const std::vector<Finding> &findings);

Json json_of(const std::vector<Finding> &findings);
std::string text_of(const std::vector<Finding> &findings, Colours colours = Colours::off);

// Examines this machine, prints what it finds and returns the exit status.
int doctor(const Options &options);

} // namespace rsmctl
