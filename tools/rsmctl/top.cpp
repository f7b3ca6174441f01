// SPDX-License-Identifier: GPL-2.0
#include "top.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>

#include "commands.hpp"
#include "schema.hpp"
#include "sort.hpp"
#include "table.hpp"
#include "watch_output.hpp"

namespace rsmctl {

namespace {

constexpr Field columns[] = {
    {0, "what", "KIND", Form::text},           {0, "number", "NUM", Form::number},
    {0, "id", "ID", Form::identifier},         {0, "controller", "CTRL", Form::text},
    {0, "pid", "PID", Form::number},           {0, "importers", "IMP", Form::number},
    {0, "pinned_bytes", "PINNED", Form::size}, {0, "put_rate", "PUT/S", Form::size},
    {0, "get_rate", "GET/S", Form::size},      {0, "event_rate", "EV/S", Form::number},
    {0, "traffic", nullptr, Form::size},
};

struct Counter {
    const char *key;
    const char *rate;
};

constexpr std::array counters{Counter{"put_bytes", "put_rate"}, Counter{"get_bytes", "get_rate"},
                              Counter{"events", "event_rate"}};

using Numbered = std::map<std::uint64_t, const Json *>;

std::uint64_t number_in(const Json &record, const char *key) {
    return record.value(key, std::uint64_t{0});
}

Numbered by_number(const std::vector<Json> &records) {
    Numbered found;
    for (const auto &record : records) {
        found[number_in(record, "number")] = &record;
    }
    return found;
}

// Nothing without both counts. A count that has gone down belongs to another segment, which has got
// the number of one that is closed, or has begun again at 0.
std::optional<std::uint64_t> rate(const Json &older, const Json &newer, const char *key,
                                  WatchTime::duration time) {
    if (!older.contains(key) || !newer.contains(key) || time <= WatchTime::duration::zero() ||
        number_in(newer, key) < number_in(older, key)) {
        return std::nullopt;
    }
    const auto more = static_cast<double>(number_in(newer, key) - number_in(older, key));
    return static_cast<std::uint64_t>(
        std::round(more / std::chrono::duration<double>(time).count()));
}

void add_rates(Json &row, const Json &older, const Json &newer, WatchTime::duration time) {
    for (const auto &[key, name] : counters) {
        if (const auto found = rate(older, newer, key, time)) {
            row[name] = *found;
        }
    }
    row["traffic"] = number_in(row, "put_rate") + number_in(row, "get_rate");
}

Json row_of(const char *what, const Json &record) {
    Json row{{"what", what}};
    for (const auto *key : {"number", "id", "controller", "pid", "pinned_bytes"}) {
        if (record.contains(key)) {
            row[key] = record[key];
        }
    }
    if (record.contains("importers")) {
        row["importers"] = number_in(record, "importers") + number_in(record, "remote_importers");
    }
    return row;
}

void add_rows(std::vector<Json> &rows, const char *what, const std::vector<Json> &older,
              const std::vector<Json> &newer, WatchTime::duration time) {
    const auto before = by_number(older);
    for (const auto &record : newer) {
        rows.push_back(row_of(what, record));
        if (const auto found = before.find(number_in(record, "number")); found != before.end()) {
            add_rates(rows.back(), *found->second, record, time);
        }
    }
}

std::vector<Json> rows_of(const TopSnapshot &older, const TopSnapshot &newer) {
    std::vector<Json> rows;
    const auto time = newer.time - older.time;
    add_rows(rows, "exp", older.segments, newer.segments, time);
    add_rows(rows, "imp", older.imports, newer.imports, time);
    return rows;
}

std::uint64_t sum(const std::vector<Json> &records, const char *key) {
    std::uint64_t total = 0;
    for (const auto &record : records) {
        total += number_in(record, key);
    }
    return total;
}

// Traffic over loopback is an import's and a segment's: the imports' is all there is here.
std::string totals(const std::vector<Json> &rows, const TopSnapshot &newer) {
    std::vector<Json> imports;
    std::ranges::copy_if(rows, std::back_inserter(imports),
                         [](const Json &row) { return row.value("what", "") == "imp"; });
    return std::to_string(newer.segments.size()) + " exports, " +
           human_size(sum(newer.segments, "pinned_bytes")) + " pinned; " +
           std::to_string(newer.imports.size()) + " imports, put " +
           human_size(sum(imports, "put_rate")) + "/s, get " +
           human_size(sum(imports, "get_rate")) + "/s\n";
}

struct OrderKey {
    TopOrder order;
    char key;
    const char *name;
    const char *field;
};

constexpr std::array order_keys{OrderKey{TopOrder::traffic, 't', "traffic", "traffic"},
                                OrderKey{TopOrder::pinned, 'p', "pinned", "pinned_bytes"},
                                OrderKey{TopOrder::importers, 'i', "importers", "importers"},
                                OrderKey{TopOrder::events, 'e', "events", "event_rate"}};

// "sort: t traffic, ...; q quits", with the order that there is.
std::string keys_line(TopOrder order, Colours colours) {
    std::string text;
    for (const auto &[its_order, key, name, field] : order_keys) {
        const auto words = std::string(1, key) + " " + name;
        text += (text.empty() ? "sort: " : ", ") +
                tinted(words, its_order == order ? Tint::heading : Tint::none, colours);
    }
    return text + "; q quits\n\n";
}

TopSnapshot taken(Socket &socket) {
    return {std::chrono::steady_clock::now(), all_of(socket, kind_of("segment")),
            all_of(socket, kind_of("import"))};
}

} // namespace

std::optional<TopOrder> order_of_key(char key) {
    const auto *found = std::ranges::find(order_keys, key, &OrderKey::key);
    return found == order_keys.end() ? std::nullopt : std::optional(found->order);
}

std::string top_text(const std::optional<TopSnapshot> &older, const TopSnapshot &newer,
                     TopOrder order, Colours colours) {
    auto rows = rows_of(older.value_or(TopSnapshot{newer.time, {}, {}}), newer);
    const auto *by = std::ranges::find(order_keys, order, &OrderKey::order);
    sort_records(rows, field_of(columns, by->field), Direction::descending);
    return totals(rows, newer) + keys_line(order, colours) + table_of(columns, rows, true, colours);
}

// A key sorts what is there; rates over the moment since then would say little.
void top(Socket &socket, const Options &options) {
    std::optional<TopSnapshot> older;
    std::optional<TopSnapshot> newer;
    auto order = TopOrder::traffic;
    const auto list = [&](Wake wake) {
        if (wake == Wake::due) {
            older = std::exchange(newer, taken(socket));
        }
        return top_text(older, *newer, order, output_colours(options.colour));
    };
    watch_output(options, list, [&](char key) {
        const auto wanted = order_of_key(key);
        order = wanted.value_or(order);
        return wanted.has_value();
    });
}

} // namespace rsmctl
