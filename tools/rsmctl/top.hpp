// SPDX-License-Identifier: GPL-2.0
// rsmctl top: segments by traffic, as it changes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "colour.hpp"
#include "netlink.hpp"
#include "options.hpp"
#include "record.hpp"
#include "watch.hpp"

namespace rsmctl {

// Segments and imports at one time.
struct TopSnapshot {
    WatchTime time;
    std::vector<Json> segments;
    std::vector<Json> imports;
};

enum class TopOrder { traffic, pinned, importers, events };

// The order that a key asks for; nothing if it is none of these keys.
std::optional<TopOrder> order_of_key(char key);

// A line with the totals, one with the keys, and a table with a row for each segment and each
// import, the most first. Rates are those between the snapshots; what was not in the older one, or
// if there is none, has no rates.
std::string top_text(const std::optional<TopSnapshot> &older, const TopSnapshot &newer,
                     TopOrder order, Colours colours);

void top(Socket &socket, const Options &options);

} // namespace rsmctl
