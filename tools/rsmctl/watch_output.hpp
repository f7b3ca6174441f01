// SPDX-License-Identifier: GPL-2.0
// --watch on standard output.
#pragma once

#include <functional>
#include <string>

#include "options.hpp"
#include "watch.hpp"

namespace rsmctl {

// On a terminal each list is drawn over the one before it; anywhere else, and as JSON, it is
// written beneath. Ends at SIGINT, SIGTERM or SIGHUP, at key q, or when nobody reads the output any
// more. Another key of the terminal is handed over; true: there is something else to show now.
void watch_output(const Options &options, const Listing &list,
                  const std::function<bool(char key)> &on_key = {});

} // namespace rsmctl
