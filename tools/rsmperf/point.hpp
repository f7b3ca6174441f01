// SPDX-License-Identifier: GPL-2.0
// Parameters of figures: a size, a window, and so on; and lists of each.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

namespace rsmperf {

// One choice. 0: the figure does not know it.
struct Point {
    std::size_t size = 0;      // bytes of an operation
    std::size_t window = 0;    // operations under way
    std::size_t endpoints = 0; // of an event dispatcher
    std::size_t contexts = 0;  // remote regions, used in turn
    std::size_t threads = 0;   // that do the same at once
};

// Lists of what a figure is measured with; an empty one: it does not know that.
struct Axes {
    std::vector<std::size_t> sizes = {};
    std::vector<std::size_t> windows = {};
    std::vector<std::size_t> endpoints = {};
    std::vector<std::size_t> contexts = {};
    std::vector<std::size_t> threads = {};
};

// A field of Point, the list of it, its name in reports, and what stands before it in a label.
struct Axis {
    std::size_t Point::*value;
    std::vector<std::size_t> Axes::*list;
    const char *name;
    const char *prefix;
};

inline constexpr std::array axes_of_points{
    Axis{&Point::size, &Axes::sizes, "size", ""},
    Axis{&Point::window, &Axes::windows, "window", "w"},
    Axis{&Point::endpoints, &Axes::endpoints, "endpoints", "e"},
    Axis{&Point::contexts, &Axes::contexts, "contexts", "c"},
    Axis{&Point::threads, &Axes::threads, "threads", "t"},
};

// Each combination, the sizes changing first. One empty point where there are no lists.
std::vector<Point> all_points(const Axes &axes);

// The lists, where the figure knows them, replaced by what was asked for (lists that are not
// empty).
Axes chosen_axes(const Axes &known, const Axes &wanted);

// Whether the figure knows all that was asked for.
bool knows(const Axes &known, const Axes &wanted);

// The name of a figure at a point: dat_write/64K/w16. One window, endpoint, context or thread is
// what goes without saying.
std::string label(const std::string &name, const Point &point);

} // namespace rsmperf
