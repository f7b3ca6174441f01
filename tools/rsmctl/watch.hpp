// SPDX-License-Identifier: GPL-2.0
// --watch: a list again and again.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>

namespace rsmctl {

using WatchTime = std::chrono::steady_clock::time_point;
using Interval = std::chrono::milliseconds;

// Why a viewer has stopped waiting.
enum class Wake { due, redraw, quit };

// Where lists are shown, and the time there.
class Viewer {
  public:
    Viewer() = default;
    virtual ~Viewer() = default;
    Viewer(const Viewer &) = delete;
    Viewer &operator=(const Viewer &) = delete;
    Viewer(Viewer &&) = delete;
    Viewer &operator=(Viewer &&) = delete;

    virtual WatchTime now() = 0;
    virtual void show(const std::string &text) = 0;
    // Waits until that time, or until the user asks for something else.
    virtual Wake wait_until(WatchTime due) = 0;
};

// When the list is due next: after one interval, or after more where `now` is later than that.
WatchTime next_due(WatchTime due, Interval interval, WatchTime now);

// Makes the text to show, for this reason.
using Listing = std::function<std::string(Wake)>;

// Shows the list at once and after each interval, until the viewer quits.
void watch(Viewer &viewer, Interval interval, const Listing &list);

struct ScreenSize {
    std::size_t rows = 0;
    std::size_t columns = 0;
};

// The part of a line that fits into so many columns. Escape sequences for colours take none.
std::string clipped(const std::string &line, std::size_t columns);

// The characters that draw the text over the one that is there: lines that do not fit are cut, and
// counted in the last row.
std::string frame(const std::string &text, ScreenSize size);

} // namespace rsmctl
