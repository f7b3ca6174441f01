// SPDX-License-Identifier: GPL-2.0
// --watch on standard output.
#pragma once

#include <functional>
#include <string>

#include "options.hpp"

namespace rsmctl {

// On a terminal each list is drawn over the one before it; anywhere else, and as JSON, it is
// written beneath. Ends at SIGINT, SIGTERM or SIGHUP, at key q, or when nobody reads the output any
// more.
void watch_output(const Options &options, const std::function<std::string()> &list);

} // namespace rsmctl
