// SPDX-License-Identifier: GPL-2.0
#include "point.hpp"

#include <algorithm>

#include "units.hpp"

namespace rsmperf {

std::vector<Point> all_points(const Axes &axes) {
    std::vector<Point> points{{}};
    // Backwards, so that the first axis changes from point to point.
    // NOLINTNEXTLINE(modernize-loop-convert): clang 14 has no views of the library
    for (auto axis = axes_of_points.rbegin(); axis != axes_of_points.rend(); ++axis) {
        const auto &list = axes.*axis->list;
        if (list.empty()) {
            continue;
        }
        std::vector<Point> next;
        for (const auto &point : points) {
            for (const auto value : list) {
                next.push_back(point);
                next.back().*axis->value = value;
            }
        }
        points = std::move(next);
    }
    return points;
}

Axes chosen_axes(const Axes &known, const Axes &wanted) {
    Axes result = known;
    for (const auto &axis : axes_of_points) {
        if (!(known.*axis.list).empty() && !(wanted.*axis.list).empty()) {
            result.*axis.list = wanted.*axis.list;
        }
    }
    return result;
}

bool knows(const Axes &known, const Axes &wanted) {
    return std::ranges::all_of(axes_of_points, [&](const Axis &axis) {
        return (wanted.*axis.list).empty() || !(known.*axis.list).empty();
    });
}

std::string label(const std::string &name, const Point &point) {
    std::string text = name;
    for (const auto &axis : axes_of_points) {
        const auto value = point.*axis.value;
        if (value > 1 || (value == 1 && axis.value == &Point::size)) {
            text += "/" + (std::string(axis.prefix) + size_text(value));
        }
    }
    return text;
}

} // namespace rsmperf
