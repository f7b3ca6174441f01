// SPDX-License-Identifier: GPL-2.0
// Standard output.
#pragma once

#include <string>

#include "record.hpp"

namespace rsmctl {

// At once, so that who reads events needn't wait. Throws if it can't be written.
void print(const std::string &text);

// With line breaks, or all in one line.
std::string json_text(const Json &json);
std::string json_line(const Json &json);

} // namespace rsmctl
