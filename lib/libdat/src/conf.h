// SPDX-License-Identifier: MIT
// dat.conf: which interface adapters there are and which library serves them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "key.h"

namespace dat {

struct ConfRecord {
    Key key;
    std::string library;
    std::string parameters; // for the provider's init
};

// The records of a file that programs can open: for user space, marked as
// default, the first of their key. The function ignores all other lines, valid or not.
std::vector<ConfRecord> parse_conf(std::string_view text);

// Reads and parses the file that the environment names, else the first of
// `usual` that exists. No records if there is none or it can't be read.
std::vector<ConfRecord> read_conf(const char *from_environment, std::span<const char *const> usual);

} // namespace dat
