// SPDX-License-Identifier: GPL-2.0
// Standard output, and files.
#pragma once

#include <string>

#include "record.hpp"

namespace rsmctl {

// Writes at once, so that a reader of events need not wait. Throws if it can't write.
void print(const std::string &text);

// Gives a file another content in one step: a reader finds the old content or the new one. A file
// that is there must be a regular one. Throws std::runtime_error that names the path.
void replace_file(const std::string &path, const std::string &content);

// With line breaks, or all in one line.
std::string json_text(const Json &json);
std::string json_line(const Json &json);

} // namespace rsmctl
