// SPDX-License-Identifier: GPL-2.0
// The command monitor: prints events as they happen.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "netlink.hpp"
#include "options.hpp"
#include "record.hpp"

namespace rsmctl {

using Time = std::chrono::system_clock::time_point;

// "2026-11-22T07:30:00.000001Z".
std::string time_text(Time time);

// The line for something that has happened to the monitor itself: "start", "lost".
std::string note_line(const std::string &what, Time time, bool json);
// The line for an event, with its newline; nothing for an event that is unknown or not asked for.
std::optional<std::string> event_line(const nlmsghdr &message, Time time, const Options &options);

// Runs for ever; throws NoFamily when the module is removed.
[[noreturn]] void monitor(Socket &socket, const Options &options);

} // namespace rsmctl
