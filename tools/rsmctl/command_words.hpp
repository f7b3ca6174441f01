// SPDX-License-Identifier: GPL-2.0
// The words of a command line that name commands: abbreviations, help, and near misses.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace rsmctl {

// A word that is no command, or could be several.
class UnknownWord : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

// The line with commands written out, `help` as --help, and --color and --watch with the value that
// they have without one, as CLI11 takes it. Throws UnknownWord.
std::vector<std::string> written_out(const CLI::App &app, std::vector<std::string> words);

// `"segmnt" is no command: did you mean segment?`, or all that there are if none is near.
std::string near_miss(const std::string &word, const std::string &kind,
                      const std::vector<std::string> &names);

} // namespace rsmctl
